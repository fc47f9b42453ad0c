"""Perturbed images that a run kept, written as files that other programs read, with a table that says what is what."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np
import safetensors.numpy
from PIL import Image

from ..core import BadInput
from ..core.depth import EIGHT_BITS
from ..core.files import write
from ..results.run import Run
from ..results.seal import check_whole
from ..runtime import Cell

ImageFormat = Literal["png", "npy", "safetensors"]
TABLE = "images.csv"
COLUMNS = ("model", "data", "perturbation", "goal", "image", "file", "bits")
MODES = (1, 3, 4)  # channels that PNG has: grey, colours, colours with a fourth


def export_images(folder: Path, out: Path, format: ImageFormat) -> int:
    """Write every kept perturbed image below <cell>/<goal>/, and images.csv; the number of images.

    Names are those of the images, so that `segstress score --images` takes a folder of them back."""
    run = check_whole(Run(folder))
    rows = [row for cell in run.cells if not cell.is_clean for row in _export(run, cell, out, format)]
    if not rows:
        raise BadInput(f"{folder} keeps no perturbed image; run it again with --keep-images and another --out")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([COLUMNS, *rows])
    write(out / TABLE, text.getvalue().encode())
    return len(rows)


def _export(run: Run, cell: Cell, out: Path, format: ImageFormat) -> Iterator[tuple[str, ...]]:
    """Write the images of a cell a shard at a time: all together may be more than memory holds."""
    encode, bits = WRITERS[format]
    for images in run.store.batches(cell, "kept"):
        for key, pixels in sorted(images.items()):
            goal, _, id_ = key.partition("|")
            file = PurePosixPath(cell.key, goal, f"{id_}.{format}")
            if ".." in file.parts or PurePosixPath(id_).is_absolute():
                raise BadInput(f"image '{id_}': expected a name below its folder; it would be written elsewhere")
            write(out / file, encode(id_, pixels))
            names = (cell.names[part] for part in ("model", "data", "perturbation"))
            yield (*names, goal, id_, str(file), str(bits))


def _png(id_: str, pixels: np.ndarray) -> bytes:
    """Round to 8 bits, which may undo a small delta."""
    if len(pixels) not in MODES:
        raise BadInput(
            f"image '{id_}' has {len(pixels)} channels, which PNG has not; choose --format npy or safetensors"
        )
    rounded = np.rint(pixels * EIGHT_BITS).clip(0, EIGHT_BITS).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(rounded[0] if len(rounded) == 1 else rounded.transpose(1, 2, 0)).save(file, "PNG")
    return file.getvalue()


def _npy(id_: str, pixels: np.ndarray) -> bytes:
    """Write (height, width, channels), as folders of images are read."""
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(pixels.transpose(1, 2, 0)), allow_pickle=False)
    return file.getvalue()


def _safetensors(id_: str, pixels: np.ndarray) -> bytes:
    """Write one tensor `image` (channels, height, width)."""
    return safetensors.numpy.save({"image": np.ascontiguousarray(pixels)})


Encode = Callable[[str, np.ndarray], bytes]
WRITERS: dict[ImageFormat, tuple[Encode, int]] = {  # and the bits of a value
    "png": (_png, 8),
    "npy": (_npy, 32),
    "safetensors": (_safetensors, 32),
}
