"""Scenes made by our own code: no download, any size, any number."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from numpy import ndarray
from pydantic import AfterValidator, BeforeValidator, Field

from ..core import BadImage, digest, settings
from ..core.quantities import PixelsOrNone
from .dataset import Dataset, Sample, datasets
from .resizing import check_pixels, parse_sides
from .scenes import CLASSES, SHIFTED, USUAL, draw_scene, find_border

MOST = 10_000_000  # scenes in a split, so that splits share none
FIRST_SEED = {
    "train": MOST,
    "val": 2 * MOST,
    "test": 3 * MOST,
    "pool": 4 * MOST,
    "holdout": 5 * MOST,
    "final": 6 * MOST,
}

Side = Annotated[int, Field(ge=8)]
SceneSize = Annotated[
    Side | tuple[Side, Side],
    BeforeValidator(lambda value: parse_sides(value) if isinstance(value, str) else value),
    AfterValidator(lambda size: check_pixels(*(size if isinstance(size, tuple) else (size, size))) and size),
]


@datasets.register("shapes")
@settings
class Shapes(Dataset):
    """Coloured shapes, large and small, made here; each class also carries a faint grain that an attack can erase.

    The grain is a predictive but non-robust feature by design: the set illustrates published findings about
    robustness and is no independent evidence for them. Grain angles code the class, so flips and turns change labels.

    The pool has other grounds, sizes, light, and clutter. The holdout is drawn as the test split is, and is looked at
    once, when every choice has been made: nothing may be trained, tuned, chosen or debugged on it. Final is drawn so
    too, and belongs to the findings alone.
    """

    positional: ClassVar = "split"
    split: Literal["train", "val", "test", "pool", "holdout", "final"] = "test"
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 24
    first: Annotated[int, Field(ge=0, le=MOST - 1_000_000)] = 0  # number of the first scene: others that none has seen
    size: SceneSize = 96  # pixels, or height x width
    grain: Annotated[float, Field(ge=0, le=1)] = 0.024  # 6.1/255; 0 switches it off
    border: PixelsOrNone = 0  # pixels on each side of an object's outline that are void
    labelled: bool | None = None  # none: every split but the pool

    classes = CLASSES
    background = 0

    @property
    def void(self) -> str:
        """The width of the void border."""
        return f"{self.border}px border" if self.border else "none"

    @property
    def name(self) -> str:
        """What it is called."""
        return f"shapes-{self.split}"

    def ids(self) -> list[str]:
        """Return split and running number."""
        return [f"{self.split}-{number:05d}" for number in range(self.first, self.first + self.count)]

    def read(self, id: str) -> Sample:
        """Draw the scene anew from its own seed."""
        image, labels = self._scene(id)
        known = self.split != "pool" if self.labelled is None else self.labelled
        valid = ~find_border(labels, self.border) if known else np.zeros_like(labels, dtype=bool)
        return Sample(
            id=id,
            image=torch.from_numpy(image).permute(2, 0, 1).contiguous().float() / 255,
            labels=torch.from_numpy(np.where(valid, labels, 0)),
            valid=torch.from_numpy(valid),
            source=digest([self._recipe(), id], length=64),
        )

    def contents(self) -> str:
        """Hash the first scene: drawing anything differently gives the whole set another fingerprint."""
        image, labels = self._scene(self.ids()[0])
        return hashlib.sha256(image.tobytes() + labels.tobytes()).hexdigest()

    def _scene(self, id: str) -> tuple[UInt8[ndarray, "h w 3"], Int64[ndarray, "h w"]]:
        split, _, number = id.rpartition("-")
        if split != self.split or not number.isdecimal() or int(number) >= MOST:
            raise BadImage(f"{self.name} has no image '{id}'; its ids are {self.split}-00000 and so on")
        random = np.random.Generator(np.random.PCG64(FIRST_SEED[split] + int(number)))
        sides = self.size if isinstance(self.size, tuple) else (self.size, self.size)
        return draw_scene(random, sides, SHIFTED if split == "pool" else USUAL, self.grain)

    def _recipe(self) -> dict[str, Any]:
        """Return the settings that decide on a scene; which and how many there are do not."""
        return {key: value for key, value in datasets.spec(self).items() if key not in ("count", "first", "resize")}
