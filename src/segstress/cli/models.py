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
from .bundles import bundled
from .console import console, show_line

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
Json = Annotated[bool, Option("--json", help="Print everything as JSON.")]


def check(
    model: Model,
    data: Data,
    images: Images = 2,
    as_json: Json = False,
    device: options.Device = "cpu",
    threads: options.Threads = 1,
    plugin: options.Plugins = None,
) -> None:
    """Try a model on a few images, forward and backward, and say its entry in a plan; exit code 1 if anything is odd.

    Example: segstress models check compact:cnn-normal --data shapes:test
    """
    from ..evaluation.model_check import try_out
    from ..runtime import Numerics

    found = try_out(model, data, images, Numerics(device=device, threads=threads))
    if as_json:
        typer.echo(json.dumps({**asdict(found), "sound": found.sound}, indent=1))
    else:
        show(found)
    if not found.sound:
        raise typer.Exit(1)


def show(found: ModelCheck) -> None:
    """Print every tensor that was loaded, a table of what was seen, the doctor's flags, and the entry of a plan."""
    for loaded in found.weights:
        say(f"weights {loaded.source}: {loaded}")
        for line in loaded.lines():
            say(f"  {line}")
    table = Table("", "found", title=f"{found.model} on {found.data}", title_justify="left")
    for name, text in rows(found).items():
        table.add_row(name, Text(text))
    console.print(table)
    for fault in found.faults:
        show_line("refused:", fault)
    for flag in found.flags:
        show_line(f"{flag.name}:", str(flag))
    say(f"In the plan:\n{found.plan.rstrip()}")


def rows(found: ModelCheck) -> dict[str, str]:
    """Return what the table says, by its first column."""
    slope = "finite" if found.gradient_finite else "NOT FINITE"
    counts = f"{found.classes}, the data has {found.data_classes}"
    return {
        "weights": "; ".join(map(str, found.weights)) or "no file of its own: as the network is made, or inside it",
        "parameters": f"{found.parameters:,}",
        **interface_rows(found.interface),
        "the network sees": f"{found.sees[0]:.4g} to {found.sees[1]:.4g}",
        "sizes": found.sizes,
        "classes": counts if found.classes == found.data_classes else f"{counts}: THEY DIFFER",
        "class names": found.names,
        "gradient": f"{slope}, not zero at {found.gradient_share:.1%} of the pixels",
        "after loading": f"peak memory {found.loading_bytes / 2**20:.0f} MiB",
        "forward": cost(found.forward),
        "forward and backward": cost(found.backward),
        "doctor": f"{len(found.flags)} flags" if found.flags else "refused" if found.faults else "nothing to object",
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
