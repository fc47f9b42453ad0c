"""Commands that ask whether figures can be trusted: doctor for an evaluation, score for images made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from typer import Option

from . import options
from .bundles import EvaluationOptions, NumericsOptions
from .console import console, show_grid, show_json, show_line
from .evaluation import attack_and_report

if TYPE_CHECKING:
    from ..doctor import Diagnosis

Quick = Annotated[bool, Option("--quick", help="Only the cheap checks, some ten passes; no trial attack.")]
Some = Annotated[str | None, Option("--attack", help="Only these attacks, separated by commas.")]
NoSpeed = Annotated[bool, Option("--no-speed", help="Leave out the table of images a second.")]
Images = Annotated[Path, Option("--images", help="Folder of PNG, NPY or NPZ files, named by image id.")]


def doctor(
    model: options.Model,
    data: options.Data,
    computing: NumericsOptions,
    quick: Quick = False,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Say what speaks against trusting an evaluation of these models; exit code 1 where something does.

    Example: segstress doctor --model compact:cnn-normal --data shapes:test
    """
    from ..evaluation.checkup import check_up

    settings = {"models": model, "data": data, "plugins": plugin or [], "numerics": computing.numerics()}
    diagnoses = check_up(quick=quick, **settings)
    if as_json:
        show_json(list(map(asdict, diagnoses)))
    else:
        _show_diagnoses(diagnoses)
    if any(diagnosis.flags for diagnosis in diagnoses):
        raise typer.Exit(1)


def _show_diagnoses(diagnoses: Sequence[Diagnosis]) -> None:
    from ..doctor import say

    for diagnosis in diagnoses:
        verdict = f"{len(diagnosis.flags)} flags" if diagnosis.flags else "no warnings"
        show_line(f"{diagnosis.model} on {diagnosis.data}:", verdict, "bold")
        for line in say((list(diagnosis.checked), list(diagnosis.unchecked)), len(diagnosis.flags)):
            console.print(f"  {line}", soft_wrap=True)
        for flag in diagnosis.flags:
            console.print(flag.name, style="red")
            for word, text in (("seen", flag.seen), ("why it matters", flag.matters), ("what to do", flag.advice)):
                console.print(f"  {word}: {text}", soft_wrap=True)


def score(
    images: Images,
    model: options.Model,
    data: options.Data,
    common: EvaluationOptions,
    eps: options.Eps = None,
    norm: options.Norm = None,
) -> None:
    """Judge adversarial images made elsewhere: ball, box and damage, in a folder that report and verify understand.

    Example: segstress score --images mine --model compact:cnn-normal --data shapes:test --eps 8/255
    """
    from ..evaluation.score import look_through, score_plan

    plan = score_plan(images, models=model, data=data, eps=eps, norm=norm, **common.settings())
    for note in look_through(images, plan):
        show_line("warning:", note, "yellow")
    attack_and_report(plan, common, folder=common.folder(f"score-{images.resolve().name}"))


def selftest(
    device: options.Device = None,
    attack: Some = None,
    no_speed: NoSpeed = False,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Check that attacks work on a device as on the CPU, and how fast; exit code 1 where one does not.

    Example: segstress selftest --device cuda
    """
    from ..core.system import check_device
    from ..testing.selftest import check_contracts, check_parity, measure

    device = device or "cpu"
    check_device(device)
    outcomes = []
    for outcome in (*check_parity(device), *check_contracts(device, (attack or "").split(",") if attack else ())):
        outcomes.append(outcome)
        show_line(f"{outcome.what}:", outcome.fault or "fine", "red" if outcome.fault else "green")
    speeds = [] if no_speed else list(measure(device))
    if speeds:
        table = Table("model", "dtype", "channels last", "images per pass", "images / s", title=f"Speed on {device}")
        for speed in speeds:
            words = (speed.model, speed.dtype, "yes" if speed.channels_last else "no", str(speed.batch_size))
            table.add_row(*words, f"{speed.images_per_second:.1f}")
        show_grid(table)
    if as_json:
        show_json({"checks": list(map(asdict, outcomes)), "speeds": list(map(asdict, speeds))})
    wrong = sum(bool(outcome.fault) for outcome in outcomes)
    console.print(f"{len(outcomes) - wrong} of {len(outcomes)} checks are fine on {device}.")
    if wrong:
        raise typer.Exit(1)
