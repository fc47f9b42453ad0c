"""What travels to annotators and back, whatever the format."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Shaped, UInt8
from PIL import Image

from ...core import BadImage, BadInput, Registry
from ...core.errors import printable
from ...core.files import read_bounded
from ..discrepancy import label_type, void_of

LARGEST = 200_000_000  # bytes of a file, or of one entry of a zip
MOST_PIXELS = 32_000_000  # of an image


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
        """Return a map that nobody has painted yet."""
        first = self.void if self.background is None else self.background
        return np.full((height, width), first, dtype=label_type(len(self.classes)))

    def index(self, name: str) -> int:
        """Return the label of a class name; BadImage where there is none."""
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
        """Yield what the tool has saved there, image by image; a bad file is a result with a fault."""
        ...


formats: Registry[Format] = Registry("format")


def png(array: np.ndarray) -> bytes:
    """Return an array as the bytes of a PNG file."""
    file = io.BytesIO()
    Image.fromarray(array).save(file, "png")
    return file.getvalue()


def open_image(data: bytes, name: str) -> Image.Image:
    """Return a decoded image; BadImage where the bytes are none, or declare more pixels than images have."""
    try:
        image = Image.open(io.BytesIO(data), formats=("PNG",))
        check_size(image.height, image.width)
        image.load()
    except BadImage:
        raise
    except Exception as error:  # decoders raise almost anything on broken files
        raise BadImage(f"{name} cannot be decoded ({error}); save it again") from error
    return image


def check_size(height: int, width: int) -> tuple[int, int]:
    """Return the sides of an image, refused before memory is taken for what no image has."""
    if height < 1 or width < 1 or height * width > MOST_PIXELS:
        raise BadImage(f"declares {height} x {width} pixels; expected 1 to {MOST_PIXELS:,}")
    return height, width


def read_json(path: Path) -> Any:
    """Return what a JSON file says; one line where it is too large, too deep or none."""
    try:
        return json.loads(read_bounded(path, LARGEST).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadImage(f"{path.name} cannot be read as JSON ({type(error).__name__}: {error})") from error


def attempt(image: str, read: Callable[[], LabelResult]) -> LabelResult:
    """Return what was read of one image, or what is wrong with it: one bad file is one fault."""
    try:
        return read()
    except BadInput as error:
        return LabelResult(printable(image), fault=f"{image}: {error}")
    except Exception as error:  # noqa: BLE001 - files from elsewhere raise almost anything
        return LabelResult(printable(image), fault=f"{image}: cannot be read ({type(error).__name__}: {error})")


def write_pixels(task: LabelTask, folder: Path) -> None:
    """Write the image itself, losslessly, under its id."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{task.image}.png").write_bytes(png(task.pixels))


def colour_of(label: int) -> tuple[int, int, int]:
    """Return Pascal VOC's colour of a label: its bits, three at a time, into red, green and blue from above."""
    channels = [0, 0, 0]
    for bit in range(8):
        for channel in range(3):
            channels[channel] |= (label >> (3 * bit + channel) & 1) << (7 - bit)
    return channels[0], channels[1], channels[2]
