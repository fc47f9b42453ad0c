"""Pictures of the smallest changes: each image, what broke it, and what the model then says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ...results.minimal import MinimalResult
from ...results.study import Frame
from ..kit.frames import pictures
from ..kit.naming import slugs
from ..kit.pictures import Colours, Strip
from .tables import smallest, unit

COLUMNS = ("image", "clean prediction", "perturbed image", "delta", "prediction", "error map")
SHOWN = 12  # rows in the page; the folder has all


class SmallestChange(NamedTuple):
    """The smallest change of an image, and its pictures."""

    result: MinimalResult
    frame: Frame
    palette: Colours


def scenes(
    results: Sequence[MinimalResult],
    frames: Mapping[tuple[str, str, str, str, str], Frame],
    palettes: Mapping[str, Colours],
) -> list[SmallestChange]:
    """Return the smallest change of every image of which pictures were kept."""
    keyed = (
        (result, (result.model, result.data, result.attack, result.threshold, result.image))
        for result in smallest(results)
    )
    return [SmallestChange(result, frames[key], palettes[result.data]) for result, key in keyed if key in frames]


def strips(scenes: Sequence[SmallestChange]) -> Iterator[Strip]:
    """Yield a row for every scene."""
    names = slugs([" ".join((scene.result.model, scene.result.threshold, scene.result.image)) for scene in scenes])
    for number, (name, scene) in enumerate(zip(names, scenes, strict=True)):
        result, frame, palette = scene
        row = pictures(frame, COLUMNS, palette, partial(_file, name))
        yield Strip(result.image, _words(result), row, shown=number < SHOWN)


def _file(name: str, column: str) -> str:
    return f"gallery/{name}--{column.replace(' ', '-')}.png"


def _words(result: MinimalResult) -> str:
    size = f"{unit(result.norm) * result.size:.3g}" + ("/255" if result.norm == "linf" else "")
    done = f"{result.norm} {size} makes {result.threshold} wrong" if result.success else "nothing did enough"
    return f"{result.model}: {done}, by {result.attack}"
