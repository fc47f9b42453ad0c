"""How small a change breaks a model: what was found, image by image, summed up in a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .table import Column, Rows, Table

BEST = "best of all"  # the smallest success of any attack, image by image


@dataclass(frozen=True)
class Find:
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
    longest: float  # that any delta in the box can be: what a failure counts as
    won: float  # share of pixels
    success_8bit: bool  # still, after rounding to 8 bits
    forwards: int
    backwards: int

    @property
    def counted(self) -> float:
        """Its size, or the longest where nothing did enough."""
        return self.size if self.success else self.longest


Group = tuple[str, str, str, str, str]  # model, data, norm, threshold, attack


def groups(finds: Sequence[Find]) -> dict[Group, list[Find]]:
    """Finds by model, data, norm and threshold, attack by attack, and then the best of all where there are several."""
    found: dict[Group, list[Find]] = {}
    places = dict.fromkeys((find.model, find.data, find.norm, find.threshold) for find in finds)
    for place in places:
        here = [find for find in finds if (find.model, find.data, find.norm, find.threshold) == place]
        names = list(dict.fromkeys(find.attack for find in here))
        for name in names:
            found[*place, name] = [find for find in here if find.attack == name]
        if len(names) > 1:
            found[*place, BEST] = _best(here)
    return found


def _best(finds: Sequence[Find]) -> list[Find]:
    """The smallest of each image, at the cost of all attacks together."""
    best = []
    for image in dict.fromkeys(find.image for find in finds):
        tried = [find for find in finds if find.image == image]
        smallest = min(tried, key=lambda find: find.counted)
        cost = {part: sum(getattr(find, part) for find in tried) for part in ("forwards", "backwards")}
        best.append(replace(smallest, attack=BEST, **cost))
    return best


def table(finds: Sequence[Find]) -> Table:
    """One line for each attack: failures, sizes with failures as the longest delta, sizes of successes, cost."""
    columns = (
        *(Column(key, key.capitalize()) for key in ("model", "data", "norm", "threshold", "attack")),
        Column("images", "Images", "count"),
        Column("unsuccessful", "Unsuccessful", "share"),
        Column("median", "Median size", "number"),
        Column("mean", "Mean size", "number"),
        Column("median_successes", "Median of successes", "number"),
        Column("mean_successes", "Mean of successes", "number"),
        Column("median_raw", "Median before polish", "number"),
        Column("success_8bit", "Successful at 8 bits", "share"),
        Column("forwards", "Forwards an image", "number"),
        Column("backwards", "Backwards an image", "number"),
    )
    rows: Rows = tuple((*group, *_figures(members)) for group, members in groups(finds).items())
    note = (
        "Linf sizes are in units of 1/255, others as they are; l0 counts changed pixels. Where no delta did enough,"
        " median and mean count the longest delta that the box allows (linf: 255/255). Sizes are upper bounds on the"
        " true distance."
    )
    return Table("minimal", "How small a change breaks the model", columns, rows, note)


def _figures(finds: Sequence[Find]) -> tuple[int | float, ...]:
    unit = 255 if finds[0].norm == "linf" else 1
    counted = [unit * find.counted for find in finds]
    successes = [unit * find.size for find in finds if find.success] or [math.nan]
    raw = [unit * (find.raw_size if find.success else find.longest) for find in finds]
    return (
        len(finds),
        float(np.mean([not find.success for find in finds])),
        float(np.median(counted)),
        float(np.mean(counted)),
        float(np.median(successes)),
        float(np.mean(successes)),
        float(np.median(raw)),
        float(np.mean([find.success_8bit for find in finds])),
        float(np.mean([find.forwards for find in finds])),
        float(np.mean([find.backwards for find in finds])),
    )
