"""The smallest harmful change that a run found of each image."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from ..core import BadInput, Norm, Perturbation, Threat, depth_of
from ..core.shares import suffices
from ..runtime import Cell
from . import timings
from .run import Run

RGB = 3  # channels that an earlier version took for granted


@dataclass(frozen=True)
class MinimalResult:
    """The smallest delta that one attack found for one image at one threshold."""

    model: str
    data: str
    attack: str
    norm: str
    threshold: str  # such as 99%
    image: str
    success: bool  # by a fresh forward pass
    size: float  # polished, in the attack's norm
    raw_size: float
    linf: float
    l2: float
    l1: float
    longest: float  # that any delta in the box can be: what a failure counts as
    won: float  # share of pixels
    success_rounded: bool  # still, after rounding to the depth of the source
    depth: str  # such as 8-bit
    forwards: int
    backwards: int
    seconds: float  # of wall time, an equal part of that of the images attacked together

    @property
    def counted(self) -> float:
        """Its size, or the longest where nothing did enough."""
        return self.size if self.success else self.longest


def read_minimal(run: Run, one_trajectory: bool = False) -> list[MinimalResult]:
    """Read what a run found; at a threshold only by attacks aimed at it, or also on the way of those aimed higher."""
    seconds = timings.read(run.folder)
    searches = list(_searches(run))
    results = [result for cell, threat in searches for result in _results(run, cell, threat, seconds, one_trajectory)]
    if not results:
        raise BadInput(_nothing(run, [cell for cell, _ in searches]))
    return results


def _searches(run: Run) -> Iterator[tuple[Cell, Threat]]:
    for cell in run.cells:
        threat = run.perturbations[cell.key].threat
        if threat is not None and math.isinf(threat.radius):
            yield cell, threat


def _nothing(run: Run, searches: Sequence[Cell]) -> str:
    """Say why there is no result: nothing was searched, or nothing was answered."""
    if not searches:
        return f"{run.folder} holds no search for a smallest delta; expected a folder made by segstress minimal"
    messages = (text for cell in searches for text in run.images(cell)["message"].to_pylist() if text)
    reason = next(messages, "; ".join(run.damage) or "no image has an answer")
    return f"every search in {run.folder} failed on every image: {reason}"


def _results(
    run: Run, cell: Cell, threat: Threat, seconds: Mapping[tuple[str, str], float], one_trajectory: bool
) -> Iterator[MinimalResult]:
    change = run.perturbations[cell.key]
    aimed = f"{100 * threat.enough:g}%"
    images = run.images(cell)
    images = images.filter(pc.equal(images["status"], "ok"))
    for row in (images if one_trajectory else images.filter(pc.equal(images["goal"], aimed))).to_pylist():
        if row["aimed"] is None:
            raise BadInput(f"{run.folder} was made by an earlier version, which did not count pixels; run again")
        share = float(row["goal"].rstrip("%")) / 100
        way = "" if row["goal"] == aimed else f" (on the way to {aimed})"
        yield MinimalResult(
            model=cell.names["model"],
            data=cell.names["data"],
            attack=f"{attack_name(change, threat)}{way}",
            norm=threat.norm,
            threshold=row["goal"],
            image=row["image"],
            success=suffices(row["won_pixels"], row["aimed"], share),
            size=row["size"],
            raw_size=row["raw_size"],
            **{norm: row[norm] for norm in ("linf", "l2", "l1")},
            longest=_longest(threat.norm, row["channels"] or RGB, row["height"] * row["width"]),
            won=row["won_pixels"] / max(row["aimed"], 1),
            success_rounded=suffices(row["won_pixels_8bit"], row["aimed"], share),
            depth=str(depth_of(cell.data.get("scale"))),
            forwards=row["forwards"],
            backwards=row["backwards"],
            seconds=seconds.get((cell.key, row["image"]), math.nan),
        )


def attack_name(change: Perturbation, threat: Threat) -> str:
    """Name an attack, with target and reference where they are not the usual."""
    return f"{change.name}{str(threat).removeprefix(f'{threat.norm} smallest')}"


def _longest(norm: Norm, channels: int, pixels: int) -> float:
    """Return the size of the largest delta that the box allows an image."""
    numbers = channels * pixels
    return {"linf": 1.0, "l2": math.sqrt(numbers), "l1": float(numbers), "l0": float(pixels)}[norm]
