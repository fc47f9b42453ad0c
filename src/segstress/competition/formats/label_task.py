"""What travels to annotators and back, whatever the format."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Shaped, UInt8
from PIL import Image, UnidentifiedImageError

from ...core import BadImage, Registry
from ..discrepancy import label_type, void_of


@dataclass(frozen=True)
class Scheme:
    """The classes that annotators choose from."""

    classes: Sequence[str]
    background: int | None = None  # what a pixel is that nobody painted; none = void

    @property
    def void(self) -> int:
        """The label of a pixel that does not count."""
        return void_of(np.empty(0, label_type(len(self.classes))))

    def blank(self, height: int, width: int) -> Shaped[np.ndarray, "h w"]:
        """A map that nobody has painted yet."""
        first = self.void if self.background is None else self.background
        return np.full((height, width), first, dtype=label_type(len(self.classes)))

    def place(self, name: str) -> int:
        """The label of a class name; BadImage where there is none."""
        if name not in self.classes:
            raise BadImage(f"unknown label '{name}'; the classes are {', '.join(self.classes)}")
        return list(self.classes).index(name)


@dataclass(frozen=True)
class LabelTask:
    """An image to label, with labels to begin from."""

    image: str  # id
    pixels: UInt8[np.ndarray, "h w 3"]
    labels: Shaped[np.ndarray, "h w"]


@dataclass(frozen=True)
class LabelResult:
    """What came back for one image: labels, a rejection, or what is wrong with the file."""

    image: str
    labels: Shaped[np.ndarray, "h w"] | None = None
    rejected: bool = False
    fault: str = ""


@runtime_checkable
class Format(Protocol):
    """A way in which annotation tools keep labels."""

    def write(self, tasks: Iterable[LabelTask], scheme: Scheme, folder: Path) -> None:
        """Make a folder that the tool can open."""
        ...

    def read(self, folder: Path, scheme: Scheme) -> Iterator[LabelResult]:
        """What the tool has saved there, image by image; a bad file is a result with a fault."""
        ...


formats: Registry[Format] = Registry("format")


def png(array: np.ndarray) -> bytes:
    """An array as the bytes of a PNG file."""
    file = io.BytesIO()
    Image.fromarray(array).save(file, "png")
    return file.getvalue()


def open_image(data: bytes, name: str) -> Image.Image:
    """A decoded image; BadImage where the bytes are none."""
    try:
        image = Image.open(io.BytesIO(data))
        image.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise BadImage(f"{name} cannot be decoded ({error}); save it again") from error
    return image


def write_pixels(task: LabelTask, folder: Path) -> None:
    """The image itself, losslessly, under its id."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{task.image}.png").write_bytes(png(task.pixels))


def colour_of(label: int) -> tuple[int, int, int]:
    """The colour that Pascal VOC gives a label: its bits, three at a time, into red, green and blue from above."""
    channels = [0, 0, 0]
    for bit in range(8):
        for channel in range(3):
            channels[channel] |= (label >> (3 * bit + channel) & 1) << (7 - bit)
    return channels[0], channels[1], channels[2]
