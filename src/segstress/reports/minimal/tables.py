"""How small a change breaks a model: what was found, image by image, summed up in tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import binom

from ...results.minimal import MinimalResult
from ..kit.table import Column, Rows, Table

BEST = "best of all"  # the smallest success of any attack, image by image
COSTS = ("forwards", "backwards", "seconds")
SETTING = tuple(Column(key, key.capitalize()) for key in ("model", "data", "norm", "threshold"))

Setting = tuple[str, str, str, str]  # model, data, norm, threshold
Group = tuple[str, str, str, str, str]  # and attack


def unit(norm: str) -> int:
    """Return what sizes are multiplied by for people: linf is read in 1/255."""
    return 255 if norm == "linf" else 1


def by_setting(results: Sequence[MinimalResult]) -> dict[Setting, dict[str, list[MinimalResult]]]:
    """Sort by model, data, norm and threshold, the strictest first; by attack, and the best of all of several last."""
    settings: dict[Setting, dict[str, list[MinimalResult]]] = {}
    for result in results:
        attacks = settings.setdefault((result.model, result.data, result.norm, result.threshold), {})
        attacks.setdefault(result.attack, []).append(result)
    for attacks in settings.values():
        if len(attacks) > 1:
            attacks[BEST] = [
                replace(best, attack=BEST, **{part: sum(getattr(result, part) for result in tried) for part in COSTS})
                for best, tried in _bests(attacks)
            ]
    return dict(sorted(settings.items(), key=lambda item: (*item[0][:3], -float(item[0][3].rstrip("%")))))


def groups(results: Sequence[MinimalResult]) -> dict[Group, list[MinimalResult]]:
    """Sort the same way, without nesting."""
    settings = by_setting(results)
    return {(*setting, attack): members for setting in settings for attack, members in settings[setting].items()}


def _bests(attacks: dict[str, list[MinimalResult]]) -> list[tuple[MinimalResult, list[MinimalResult]]]:
    """Return the smallest result of each image, and all that were tried on it."""
    tried: dict[str, list[MinimalResult]] = {}
    for result in (result for members in attacks.values() for result in members):
        tried.setdefault(result.image, []).append(result)
    return [(min(several, key=lambda result: (result.counted, -result.won)), several) for several in tried.values()]


def table(results: Sequence[MinimalResult]) -> Table:
    """Return one line for each attack: failures, sizes with failures as the longest delta, sizes of successes, cost."""
    columns = (
        *SETTING,
        Column("attack", "Attack"),
        Column("images", "Images", "count"),
        Column("unsuccessful", "Failed", "share"),
        Column("median", "Median size", "number"),
        Column("median_low", "Median, from", "number"),
        Column("median_high", "Median, to", "number"),
        Column("mean", "Mean size", "number"),
        Column("median_successes", "Median success", "number"),
        Column("mean_successes", "Mean success", "number"),
        Column("median_raw", "Before polish", "number"),
        Column("success_rounded", "Broken once rounded", "share"),
        Column("forwards", "Forwards an image", "number", hidden=True),
        Column("backwards", "Backwards an image", "number", hidden=True),
    )
    rows: Rows = tuple((*group, *_figures(members)) for group, members in groups(results).items())
    depths = ", ".join(sorted({result.depth for result in results}))
    note = (
        "Linf sizes are in units of 1/255, others as they are; l0 counts changed pixels. Where no delta did enough,"
        " median and mean count the longest delta that the box allows (linf: 255/255). Sizes are upper bounds on the"
        f" true distance. Rounded: to the depth of the source ({depths})."
    )
    return Table("minimal", "How small a change breaks the model", columns, rows, note)


def _figures(results: Sequence[MinimalResult]) -> tuple[int | float, ...]:
    scale = unit(results[0].norm)
    counted = [scale * result.counted for result in results]
    successes = [scale * result.size for result in results if result.success] or [math.nan]
    raw = [scale * (result.raw_size if result.success else result.longest) for result in results]
    return (
        len(results),
        float(np.mean([not result.success for result in results])),
        float(np.median(counted)),
        *median_bounds(counted),
        float(np.mean(counted)),
        float(np.median(successes)),
        float(np.mean(successes)),
        float(np.median(raw)),
        float(np.mean([result.success_rounded for result in results])),
        float(np.mean([result.forwards for result in results])),
        float(np.mean([result.backwards for result in results])),
    )


def median_bounds(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Return bounds that hold the true median at that level, whatever the distribution: two of the sorted values.

    NaN where there are too few values for any two of them."""
    below = int(binom.ppf((1 - level) / 2, len(values), 0.5))  # at most so many lie below the lower bound
    if below == 0:
        return math.nan, math.nan
    ordered = sorted(values)
    return ordered[below - 1], ordered[-below]


def costs(results: Sequence[MinimalResult]) -> Table:
    """Return what every attack cost an image, wherever it was run: mean and most."""
    passes: dict[str, list[MinimalResult]] = {}
    for result in results:
        passes.setdefault(result.attack, []).append(result)
    columns = (
        Column("attack", "Attack"),
        Column("forwards", "Forwards an image", "number"),
        Column("backwards", "Backwards an image", "number"),
        Column("seconds", "Seconds an image", "number"),
        Column("most_forwards", "Most forwards", "count"),
        Column("most_backwards", "Most backwards", "count"),
    )
    rows: Rows = tuple(
        (
            attack,
            *(float(np.mean([getattr(result, part) for result in members])) for part in COSTS),
            *(max(getattr(result, part) for result in members) for part in ("forwards", "backwards")),
        )
        for attack, members in passes.items()
    )
    note = (
        "One call of the model on one image is one forward; those that polish the smallest delta are among them."
        " Seconds are wall time on the machine of the run, with whatever else it did."
    )
    return Table("minimal-costs", "What the search cost", columns, rows, note)


def smallest(results: Sequence[MinimalResult]) -> list[MinimalResult]:
    """Return the best result of each image, model, dataset, norm and threshold, under the name of its attack."""
    smallest_finds = []
    for attacks in by_setting(results).values():
        attacks.pop(BEST, None)
        smallest_finds += [best for best, *_ in _bests(attacks)]
    return smallest_finds


def best(results: Sequence[MinimalResult]) -> Table:
    """Return one line for each image: its smallest change."""
    table = listing(smallest(results), "minimal-best", "The smallest change of every image")
    return table.hiding(("raw_size", "forwards", "backwards", "seconds"))


def every(results: Sequence[MinimalResult]) -> Table:
    """Return one line for each image and attack."""
    return replace(listing(results, "minimal-results", "Every image under every attack"), folded=True)


def listing(results: Sequence[MinimalResult], name: str, title: str) -> Table:
    """List results one by one."""
    columns = (
        *SETTING,
        Column("image", "Image"),
        Column("attack", "Attack"),
        Column("success", "Success"),
        *(
            Column(key, key.replace("_", " ").capitalize(), "number")
            for key in ("size", "raw_size", "linf", "l2", "l1")
        ),
        Column("won", "Pixels won", "share"),
        Column("success_rounded", "Success once rounded"),
        Column("forwards", "Forwards", "count"),
        Column("backwards", "Backwards", "count"),
        Column("seconds", "Seconds", "number"),
    )
    rows: Rows = tuple(
        (
            *(result.model, result.data, result.norm, result.threshold, result.image, result.attack),
            "yes" if result.success else "no",
            *(
                unit(result.norm) * result.size,
                unit(result.norm) * result.raw_size,
                255 * result.linf,
                result.l2,
                result.l1,
            ),
            *(result.won, "yes" if result.success_rounded else "no", result.forwards, result.backwards, result.seconds),
        )
        for result in results
    )
    note = "Linf in units of 1/255, also as a size; raw: before polish; won: by a fresh forward pass of the model."
    return Table(name, title, columns, rows, note)


TABLES = {"minimal": table, "minimal-costs": costs, "minimal-best": best, "minimal-results": every}
