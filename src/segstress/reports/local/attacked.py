"""Several attacks on one region: the best of them alone, and all together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...metrics.intervals import Interval
from ...results.local import HEADLINE, LocalResult
from ..kit.table import Cell, Column, Table
from .keys import KEYS, keys_of


def attacked(results: Sequence[LocalResult]) -> Table:
    """Compare several attacks on one region: the best of them alone, and all together."""
    targeted = any(result.wanted for result in results)
    reached = (("clean", "clean"), ("single", "single"), ("cumulative", "together")) if targeted else ()
    columns = (
        *KEYS[:6],
        Column("attacks", "Attacks", "count"),
        Column("clean", "Clean, outside", "interval"),
        Column("single", "Best single, outside", "interval"),
        Column("cumulative", "All together, outside", "interval"),
        Column("rce_single", "RCE, single", "interval"),
        Column("rce_cumulative", "RCE, together", "interval"),
        Column("gain", "Together minus single", "interval"),
        *(Column(f"reached_{name}", f"At the target, outside, {title}", "interval") for name, title in reached),
    )
    groups: dict[tuple[Cell, ...], list[LocalResult]] = {}
    for result in results:
        if result.goal.startswith(("attack-", "cumulative-")):
            groups.setdefault(keys_of(result)[:6], []).append(result)
    rows: list[tuple[Cell, ...]] = []
    for key, members in groups.items():
        alone = [result for result in members if result.goal.startswith("attack-")]
        single = max(alone, key=_harm)
        together = next(result for result in members if result.goal == f"cumulative-{len(alone)}")
        figures: list[Cell] = [
            together.score_interval(HEADLINE, "outside", "clean"),
            *(result.score_interval(HEADLINE, "outside") for result in (single, together)),
            *(result.rce_interval(HEADLINE, "outside") for result in (single, together)),
            together.gain(single, HEADLINE, "outside"),
            *(_reached(single, together) if targeted else ()),
        ]
        rows.append((*key, len(alone), *figures))
    note = (
        "Class-mean accuracy. All together: each pixel as the first attack that fooled it left it, a worst case pixel"
        " by pixel that no single image attains. Together minus single: on the same images, with the interval of the"
        " paired difference; the single one was chosen on them, by what it brought to the target where it has one, else"
        " by this accuracy. Every attack figure is an upper bound on robustness."
    )
    return Table("attacked", "Attacks on a region", columns, tuple(rows), note)


def _reached(single: LocalResult, together: LocalResult) -> Iterator[Interval]:
    """Yield the share of the pixels outside that show what is wanted of them: clean, of the best attack, of all."""
    yield together.score_interval("accuracy", "outside", "wanted_clean")
    yield from (result.score_interval("accuracy", "outside", "wanted") for result in (single, together))


def _harm(result: LocalResult) -> float:
    """Return what an attack attained outside of its region: pixels at its target, or else accuracy lost."""
    if result.wanted:
        return result.score("accuracy", "outside", "wanted")
    return -result.score(HEADLINE, "outside")
