"""The command that makes models: train."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Argument, Option

from . import options
from .bundles import WorkerOptions, given
from .console import console, show_json, show_line

if TYPE_CHECKING:
    from ..training import Watcher

Plan = Annotated[str | None, Argument(help="YAML plan, or the name of one that made the zoo, e.g. cnn-pgd-at-100.")]
Recipe = Annotated[str | None, Option("--recipe", help="normal, pgd-at, segpgd-at, ddc-at, pir-at ...")]
Share = Annotated[float | None, Option("--share", help="Share of the images that are attacked, 0 to 1.")]
Attack = Annotated[str | None, Option("--attack", help="The attack inside the loop, e.g. segpgd?steps=7&eps=0.03.")]
Model = Annotated[str | None, Option("--model", help="Architecture, e.g. compact:cnn?classes=11.")]
Data = Annotated[str | None, Option("--data", help="Training images, e.g. shapes:train?count=2000.")]
Validation = Annotated[str | None, Option("--validation", help="Images to validate on, e.g. shapes:val?count=48.")]
Start = Annotated[str | None, Option("--start", help="Model whose weights training begins with.")]
Backbone = Annotated[
    str | None,
    Option("--backbone", help="Features alone that training begins with: a model, or a file[?key=&part=&rename=]."),
]
Epochs = Annotated[int | None, Option("--epochs", min=1)]
BatchSize = Annotated[int | None, Option("--batch-size", min=1, help="Images of a step, over all processes.")]
Board = Annotated[bool, Option("--tensorboard", help="Write curves for TensorBoard into <out>/tensorboard.")]
SaveAs = Annotated[
    Path | None, Option("--save-as", help="Also copy the trained model and its card to this .safetensors file.")
]


ELSEWHERE = ("--out", "--save-as", "--executor", "--workers", "--ray-address", "--gpus-per-worker")


@dataclass(frozen=True)
class TrainingOptions:
    """What a training plan may say; what is not given is as the plan has it."""

    recipe: Recipe = None
    share: Share = None
    attack: Attack = None
    model: Model = None
    data: Data = None
    validation: Validation = None
    start: Start = None
    backbone: Backbone = None
    epochs: Epochs = None
    batch_size: BatchSize = None
    seed: options.Seed = None
    device: options.Device = None
    threads: options.Threads = None

    def settings(self) -> dict[str, Any]:
        """Return what was given of a plan."""
        return given(self, *(field.name for field in fields(self)))


def train(
    common: WorkerOptions,
    changes: TrainingOptions,
    plan: Plan = None,
    out: options.Out = None,
    save_as: SaveAs = None,
    tensorboard: Board = False,
) -> None:
    """Train a model by a recipe; run it again to resume, on several processes by torchrun or --executor ray.

    Example: segstress train --recipe pgd-at --share 0.5 --data "shapes:train?count=2000" --epochs 8
    """
    from ..fitting.plan import read_training_plan
    from ..fitting.train import TrainingWork, train, train_on_ray
    from ..runtime.launch import leads

    plugins = {"plugins": common.plugin} if common.plugin else {}
    training_plan = read_training_plan(plan, changes.settings() | plugins)
    folder = out or Path("runs") / f"train-{Path(plan).stem if plan else (changes.recipe or 'normal').split('?')[0]}"
    run_options = common.options()
    if common.executor == "local" and common.workers > 1:
        raise typer.BadParameter("--workers: several processes train by torchrun, or by --executor ray")
    with _watch(folder / "tensorboard" if tensorboard and leads() else None) as watcher:
        if common.executor == "ray":
            made = train_on_ray(TrainingWork(training_plan, folder, _command()), run_options, watcher)
        else:
            made = train(training_plan, folder, watcher if leads() else None, _command())
    if leads():
        _conclude(made, save_as, training_plan.data)
        if common.as_json:
            card = json.loads(made.with_suffix(".json").read_text())
            show_json({"model": str(made), "epochs": training_plan.epochs, "card": card})


def _command() -> str:
    """Return what was typed, without where it was done."""
    words, kept = iter(sys.argv[1:]), ["segstress"]
    for word in words:
        if word in ELSEWHERE:
            next(words, None)
        else:
            kept.append(word)
    return shlex.join(kept)


def _conclude(made: Path, save_as: Path | None, data: Any) -> None:
    if save_as is not None:
        save_as.parent.mkdir(parents=True, exist_ok=True)
        for suffix in (".safetensors", ".json"):
            shutil.copyfile(made.with_suffix(suffix), save_as.with_suffix(suffix))
    console.print(f"Model: {made}", soft_wrap=True)
    console.print(f"Page: {shlex.join(['segstress', 'report', str(made.parent)])}", soft_wrap=True)
    console.print(f"Next: {_next(made, data)}", soft_wrap=True)


def _next(made: Path, data: Any) -> str:
    """Return the command that evaluates the result, on the test images where the data has some."""
    words = ["segstress", "attack", "--model", f"checkpoint:{made}", "--battery", "quick", "--eps", "8/255"]
    kind = str(data).partition("?")[0]
    return shlex.join([*words, "--data", kind.replace(":train", ":test")])


@contextmanager
def _watch(curves: Path | None) -> Iterator[Watcher]:
    """Yield a bar with loss, accuracy and time left; a line at the end of every epoch.

    Curves where a folder is given."""
    from ..training import Moment, Watcher
    from ..training.board import board

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("training", total=None)

        def step(moment: Moment) -> None:
            shown = f"loss {moment.loss:.3f} accuracy {100 * moment.accuracy:.1f} %"
            bar.update(task, completed=moment.step, total=moment.steps, description=shown)

        drawn = Watcher(
            step=step,
            epoch=lambda entry: console.print(_line(entry), soft_wrap=True),
            warn=partial(show_line, "warning:", style="yellow"),
        )
        with nullcontext(drawn) if curves is None else board(curves, drawn) as watcher:
            yield watcher


def _line(entry: dict[str, Any]) -> str:
    """Return an epoch in one line."""
    words = [f"epoch {entry['epoch']}: loss {entry['loss']:.3f}, accuracy {100 * entry['accuracy']:.1f} %"]
    for name, figures in entry.get("validation", {}).items():
        words.append(f"{name}: accuracy {100 * figures['accuracy']:.1f} %, CmIoU {100 * figures['cmiou']:.1f} %")
    return "; ".join(words)
