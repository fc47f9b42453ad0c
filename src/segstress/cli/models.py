"""Commands about models: check, which tries one out before it is put into a plan."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from . import options
from .bundles import PassOptions, bundled
from .console import console, show_grid, show_line

if TYPE_CHECKING:
    from ..evaluation.model_check import ModelCheck, PassCost
    from ..models import Interface

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Try out a model before it is stressed. What kinds there are: segstress list models.",
)

Model = Annotated[str, Argument(help="Model spec, e.g. compact:cnn-normal or factory:nets.py:enet?classes=11.")]
Data = Annotated[str, Option("--data", help="Dataset spec on which the model is tried.")]
Images = Annotated[int, Option("--images", min=1, help="Images that are passed and timed.")]


def check(
    model: Model,
    data: Data,
    computing: PassOptions,
    images: Images = 2,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Try a model on a few images, forward and backward, and say its entry in a plan; exit code 1 if anything is odd.

    Example: segstress models check compact:cnn-normal --data shapes:test
    """
    from ..evaluation.model_check import try_out
    from ..planning.reading import checked
    from ..runtime import Numerics

    check = try_out(model, data, images, checked(Numerics, computing.numerics(), "numerics"))
    if as_json:
        typer.echo(json.dumps({**asdict(check), "sound": check.sound}, indent=1))
    else:
        show(check)
    if not check.sound:
        raise typer.Exit(1)


def show(check: ModelCheck) -> None:
    """Print every tensor that was loaded, a table of what was seen, the doctor's flags, and the entry of a plan."""
    for loaded in check.weights:
        say(f"weights {loaded.source}: {loaded}")
        for line in loaded.lines():
            say(f"  {line}")
    table = Table("", "found", title=f"{check.model} on {check.data}", title_justify="left")
    for name, text in rows(check).items():
        table.add_row(name, Text(text))
    show_grid(table)
    for fault in check.faults:
        show_line("refused:", fault)
    for flag in check.flags:
        show_line(f"{flag.name}:", str(flag))
    say(f"In the plan:\n{check.plan.rstrip()}")


def rows(check: ModelCheck) -> dict[str, str]:
    """Return what the table says, by its first column."""
    slope = "finite" if check.gradient_finite else "NOT FINITE"
    counts = f"{check.classes}, the data has {check.data_classes}"
    return {
        "weights": "; ".join(map(str, check.weights)) or "no file of its own: as the network is made, or inside it",
        "parameters": f"{check.parameters:,}",
        **interface_rows(check.interface),
        "the network sees": f"{check.sees[0]:.4g} to {check.sees[1]:.4g}",
        "sizes": check.sizes,
        "classes": counts if check.classes == check.data_classes else f"{counts}: THEY DIFFER",
        "class names": check.names,
        "gradient": f"{slope}, not zero at {check.gradient_share:.1%} of the pixels",
        "after loading": f"peak memory {check.loading_bytes / 2**20:.0f} MiB",
        "forward": cost(check.forward),
        "forward and backward": cost(check.backward),
        "doctor": f"{len(check.flags)} flags" if check.flags else "refused" if check.faults else "no warnings",
    }


def interface_rows(interface: Interface) -> dict[str, str]:
    """Return how images go in, as it is set."""
    order, scale = ("BGR" if interface.bgr else "as the data's"), f"{interface.scale:g}"
    mean, std = (", ".join(f"{number:g}" for number in numbers) for numbers in (interface.mean, interface.std))
    own = f"{interface.preprocess}, straight-through gradient" if interface.preprocess else ""
    return ({"preprocess": own} if own else {}) | {
        "input": f"channels {order}, times {scale}, minus {mean}, divided by {std}"
    }


def cost(one: PassCost) -> str:
    """Return the time and memory of a pass."""
    return f"{1000 * one.seconds:.1f} ms an image, peak memory {one.peak_bytes / 2**20:.0f} MiB"


def say(text: str) -> None:
    """Print text as it is."""
    console.print(text, soft_wrap=True)


app.command("check")(bundled(check))
