"""Pictures of every single attack of a multi-attack and of its fooling region (arXiv:2504.01632, figures 2b and 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ...results.strikes import StrikeFrames
from ..kit.drawing import CALM, HARM, PALE
from ..kit.naming import slugs
from ..kit.pictures import GalleryPicture, Strip, paint, photograph

INSIDE, VOID = (90, 96, 104), (222, 225, 229)
ACROSS = 6  # pictures beside each other: two attacks, three of each
FREE = ("wrong", "still right", "void")  # pale, blue, light grey
TARGETED = ("at its target", "not at its target", "no target")


def strike_strips(frames: Sequence[StrikeFrames]) -> Iterator[Strip]:
    """Show, attack by attack, the image, its prediction, and the pixels that it fooled of those that were left."""
    names = slugs([f"{one.outcome} strikes {one.model} {one.image}" for one in frames])
    for name, one in zip(names, frames, strict=True):
        draws = {}
        before = one.clean
        for number, strike in enumerate(one.strikes, start=1):
            draws[f"attack {number}"] = partial(photograph, strike.perturbed)
            draws[f"its prediction, {number}"] = partial(paint, strike.alone.astype(np.int64), one.palette)
            draws[f"fooling region, {number}"] = partial(fooling_region, one, before, strike.together)
            before = strike.together
        pictures = tuple(
            GalleryPicture(caption, f"gallery/{name}-{number}.png", draw, photograph=caption.startswith("attack"))
            for number, (caption, draw) in enumerate(draws.items())
        )
        before_it, left, nothing = FREE if one.wanted is None else TARGETED
        words = (
            f"{one.model} under {one.outcome}, attack by attack. Fooling region: red = fooled by this attack, pale ="
            f" {before_it} before, blue = {left} and what the next attack aims at, dark = where attacks may act,"
            f" light grey = {nothing}"
        )
        yield Strip(one.image, words, pictures, across=ACROSS)


def fooling_region(one: StrikeFrames, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Paint what an attack has fooled of what was left to it."""
    painted = np.empty((*one.truth.shape, 3), dtype=np.uint8)
    painted[:] = _rgb(CALM)
    painted[before != one.truth if one.wanted is None else before == one.wanted] = _rgb(PALE)
    painted[after != before] = _rgb(HARM)
    if one.region is not None and not one.region.all():
        painted[one.region & (after == before)] = INSIDE
    painted[(one.truth if one.wanted is None else one.wanted) < 0] = VOID
    return painted


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))
