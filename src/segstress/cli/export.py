"""Commands that hand results to other programs: export images."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from . import options
from .bundles import bundled
from .console import console, show_json

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Hand what a run kept to other programs.")


class ImageFormat(StrEnum):
    """How an image is stored."""

    png = "png"
    npy = "npy"
    safetensors = "safetensors"


@app.callback()
def export() -> None:
    """Hand what a run kept to other programs.

    Example: segstress export images runs/demo --out images
    """


def images(
    run: Annotated[Path, Argument(help="Folder of results; --keep-images keeps every image, else 24 are kept.")],
    out: Annotated[Path, Option("--out", help="Folder for the images and images.csv.")],
    format: Annotated[
        ImageFormat, Option("--format", help="png rounds to 8 bits; the others are exact.")
    ] = ImageFormat.png,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Write kept perturbed images as <cell>/<goal>/<image>, and a table of model, data, perturbation, goal, file.

    Example: segstress export images runs/demo --out images --format npy
    """
    from ..evaluation.export_images import TABLE, export_images

    written = export_images(run, out, format.value)
    if format is ImageFormat.png:
        console.print("PNG holds 8 bits: values were rounded to the nearest 1/255, which may undo a small delta.")
        console.print("What was attacked, to the last bit: --format npy or safetensors.")
    console.print(f"{written} images: {out / TABLE}", soft_wrap=True)
    if as_json:
        show_json({"images": written, "table": str(out / TABLE), "format": format.value})


app.command("images")(bundled(images))
