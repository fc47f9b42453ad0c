"""Commands that ask whether figures can be trusted: doctor for an evaluation, score for images made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from . import options
from .bundles import EvaluationOptions
from .console import console
from .evaluation import attack_and_report

Quick = Annotated[bool, Option("--quick", help="Only the cheap checks, at most 20 passes; no trial attack.")]
Images = Annotated[Path, Option("--images", help="Folder of PNG, NPY or NPZ files, named by image id.")]


def doctor(
    model: options.Model,
    data: options.Data,
    quick: Quick = False,
    device: options.Device = "cpu",
    threads: options.Threads = 1,
    plugin: options.Plugins = None,
) -> None:
    """Say what speaks against trusting an evaluation of these models; exit code 1 where something does.

    Example: segstress doctor --model compact:cnn-normal --data shapes:test
    """
    from ..evaluation.checkup import check_up

    numerics = {"device": device, "threads": threads}
    diagnoses = check_up(quick=quick, models=model, data=data, plugins=plugin or [], numerics=numerics)
    for diagnosis in diagnoses:
        verdict = f"{len(diagnosis.flags)} flags" if diagnosis.flags else "nothing to object"
        console.print(f"[bold]{diagnosis.model} on {diagnosis.data}:[/bold] {verdict}", highlight=False)
        for flag in diagnosis.flags:
            console.print(f"[red]{flag.name}[/red]", highlight=False)
            for word, text in (("seen", flag.seen), ("why it matters", flag.matters), ("what to do", flag.advice)):
                console.print(f"  {word}: {text}", highlight=False, markup=False, soft_wrap=True)
    if any(diagnosis.flags for diagnosis in diagnoses):
        raise typer.Exit(1)


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
        console.print(f"[yellow]warning:[/yellow] {note}", highlight=False, soft_wrap=True)
    attack_and_report(plan, common, folder=common.folder(f"score-{images.resolve().name}"))
