"""Your own images, with masks or without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import field_validator, model_validator

from ..core import BadInput, settings
from ..core.quantities import MOST_CLASSES
from .dataset import datasets
from .encoded import Encoded
from .files import Files, Pair, list_files, pair_up
from .labelling import VOID, Codes, colour_code
from .palette import Colour


@datasets.register("folder")
@settings
class Folder(Encoded, Files):
    """Images and masks of the same names in two folders; with masks=none, images alone."""

    images: str = "images"  # folder below the root; . for the root itself
    masks: str = "masks"  # likewise; none = unlabelled
    image_suffix: str = ""  # ending of the names that is no part of the id, such as _leftImg8bit
    mask_suffix: str = ""  # such as _gtFine_labelIds
    classes: tuple[str, ...] = ()  # names, how many there are, or a file with one name per line
    ignore: tuple[int, ...] | None = None  # void ids, or colours as 0xRRGGBB; none = every pixel counts
    colours: tuple[Colour, ...] = ()  # of the classes where masks are colour images; or a file of `red green blue`
    background: int | None = None  # the class that is no object

    @field_validator("classes", mode="before")
    @classmethod
    def _name_classes(cls, value: Any, info: Any) -> Any:
        if isinstance(value, int):
            if value > MOST_CLASSES:
                raise BadInput(f"classes: expected at most {MOST_CLASSES:,}, found {value}")
            return [f"class {number}" for number in range(value)]
        return _read_lines(value, info) if isinstance(value, str) else value

    @field_validator("colours", mode="before")
    @classmethod
    def _read_colours(cls, value: Any, info: Any) -> Any:
        return [line.split() for line in _read_lines(value, info)] if isinstance(value, str) else value

    @field_validator("ignore", mode="before")
    @classmethod
    def _list_ignored(cls, value: Any) -> Any:
        if value == "none":
            return ()
        return (value,) if isinstance(value, int) else value

    @field_validator("background", mode="before")
    @classmethod
    def _read_none(cls, value: Any) -> Any:
        return None if value == "none" else value

    @model_validator(mode="after")
    def _check(self) -> Folder:
        count = len(self.classes)
        if self.labelled and (not count or self.ignore is None):
            raise BadInput(
                "masks need classes= (a number or a file of names) and ignore= (ids or none); neither is guessed"
            )
        if self.colours and len(set(self.colours)) != count:
            raise BadInput(
                f"colours: expected a different one for each of {count} classes, found {len(set(self.colours))}"
            )
        if self.background is not None and not 0 <= self.background < count:
            raise BadInput(f"background: expected a class below {count}, found {self.background}")
        return self

    @property
    def labelled(self) -> bool:
        """Whether there are masks."""
        return self.masks != "none"

    @property
    def colour_masks(self) -> bool:
        """Whether the masks are colour images."""
        return bool(self.colours)

    @property
    def void(self) -> str:
        """The ignored ids."""
        return ",".join(map(str, self.ignore or ())) or "none"

    @property
    def palette(self) -> tuple[Colour, ...]:
        """The colours of the masks, where they have them."""
        return self.colours or super().palette

    def find(self) -> dict[str, Pair]:
        """Match files by their path below the two folders."""
        images = list_files(self.root / self.images, self.image_suffix)
        return pair_up(images, list_files(self.root / self.masks, self.mask_suffix) if self.labelled else {})

    def codes(self) -> Codes:
        """Read classes by number or by colour; what is ignored is void, even if it is a class."""
        classes = map(colour_code, self.colours) if self.colours else range(len(self.classes))
        return {code: label for label, code in enumerate(classes)} | dict.fromkeys(self.ignore or (), VOID)


def _read_lines(name: str, info: Any) -> list[str]:
    """Read the lines of a text file, looked for under the root first; `info` is what pydantic tells a validator."""
    for path in (info.data.get("root", Path()) / name, Path(name)):
        if path.is_file():
            return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    raise BadInput(f"{info.field_name}: file '{name}' does not exist, neither under the root nor here")
