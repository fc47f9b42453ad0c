"""How many images go through a model at once, where nobody says it: a rule of pixels and parameters alone.

No time is measured, so that the same plan rounds alike on every machine. Small images leave a core idle between the
calls of a pass: 96 px images four at a time take 0.56 to 0.84 of the CPU time of one at a time, 256 px images two at a
time 0.91 to 0.99, and from 384 px on nothing is gained (docs/benchmarks.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from torch import nn

from ..data import load, readable
from ..runtime import Numerics, recorded
from .plan import Plan

MOST = 4  # images; more gain little and double the memory
PIXELS = 2**17  # of a pass
LARGE, PIXELS_OF_LARGE = 10_000_000, 2**15  # parameters from which a pass keeps a core busy by itself, and its pixels


def images_per_pass(pixels: int, parameters: int) -> int:
    """Return the images that one pass takes: 1, 2 or 4."""
    room = (PIXELS_OF_LARGE if parameters >= LARGE else PIXELS) // max(pixels, 1)
    return min(MOST, 2 ** max(room.bit_length() - 1, 0))


def parameters(network: nn.Module) -> int:
    """Count the numbers that a network has learnt."""
    return sum(tensor.numel() for tensor in network.parameters())


def settle(plan: Plan, sizes: Iterable[int], folder: Path | None = None) -> Numerics:
    """Return the numerics of a plan, with the images of a pass: as asked, as its folder was begun, else by the rule.

    The model with the most parameters, of which `sizes` has the numbers, and the largest image decide for all."""
    return settled(plan.numerics, lambda: _largest(plan), sizes, folder)


def settled(
    numerics: Numerics, pixels: Callable[[], int], sizes: Iterable[int], folder: Path | None = None
) -> Numerics:
    """Do so for images of so many pixels; they are asked for only where nothing else decides."""
    if numerics.batch_size:
        return numerics
    begun = recorded(folder) if folder else None
    size = begun.batch_size if begun else images_per_pass(pixels(), max(sizes, default=0))
    return replace(numerics, batch_size=size)


def _largest(plan: Plan) -> int:
    """Return the pixels of the largest first image of any dataset, as models see it."""
    firsts = (next(readable(data, plan.ids(data)), None) for data in map(load, plan.data))
    return max((first.labels.numel() for first in firsts if first is not None), default=1)
