"""Tables of localized damage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from ...metrics import metrics
from ...metrics.intervals import Interval
from ...results.local import FIGURES, HEADLINE, NOTHING, LocalResult, mean_rce
from ..kit.table import Cell, Column, Rows, Table
from .all_corruptions import all_corruptions
from .attacked import attacked
from .common import common
from .figures import drawn
from .keys import KEYS, keys_of
from .placements import placements
from .positions import positions

ZONES = ("inside", "outside", "all")


def scores(results: Sequence[LocalResult]) -> Table:
    """Return every figure in every zone, clean and perturbed, with RCE: all that the other tables say."""
    columns = (
        *KEYS,
        Column("figure", "Figure"),
        Column("share_inside", "Inside", "share"),
        *(
            Column(f"{part}_{zone}", f"{title}, {zone}", "interval", hidden=zone == "all")
            for zone in ZONES
            for part, title in (("clean", "Clean"), ("perturbed", "Perturbed"), ("rce", "RCE"))
        ),
        Column("spread", "Out/in", "number"),
        *(Column(f"spread_{end}", f"Out/in, {title}", "number") for end, title in (("low", "from"), ("high", "to"))),
        Column("empty_inside", "No pixel inside", "count"),
        Column("empty_outside", "No pixel outside", "count"),
    )
    rows: Rows = tuple(
        (
            *(*keys_of(result), figure, result.share()),
            *(
                value
                for zone in ZONES
                for value in (
                    result.score_interval(figure, zone, "clean"),
                    result.score_interval(figure, zone),
                    result.rce_interval(figure, zone),
                )
            ),
            *((spread := result.spread(figure)).value, spread.low, spread.high),
            *(result.empty("inside"), result.empty("outside")),
        )
        for result in results
        for figure in (*FIGURES, *_others())
    )
    return Table("scores", "Every figure", columns, rows, NOTE, folded=True)


def _others() -> list[str]:
    """Return metrics of plug-ins that declare themselves for regions."""
    return [
        name for name in metrics.declared() if "regions" in metrics.get(name).declaration.zones if name not in FIGURES
    ]


NOTE = (
    "RCE = (clean - perturbed) / clean, both on the same region; on the whole image it is the paper's CE. Out/in = RCE"
    " outside x area outside over RCE inside x area inside. Images without a pixel in a zone are left out and counted."
)


def overview(results: Sequence[LocalResult]) -> Table:
    """Tabulate class-mean accuracy inside / outside, a line per model and region (arXiv:2504.01632)."""
    results = [result for result in results if result.region and result.goal == "any" and not result.corner]
    done = list(dict.fromkeys((result.what, result.strength) for result in results))
    damages = {(result.model, result.data, result.where, result.what, result.strength): result for result in results}
    lines = {key[:3]: result for key, result in damages.items()}
    rank = partial(Column, kind="interval", best="highest", top=2)
    columns = (
        *(*KEYS[:2], KEYS[5]),
        rank("clean", "Clean"),
        *(
            rank(f"{what} {strength} {zone}", f"{what} {strength}, {zone}")
            for what, strength in done
            for zone in ZONES[:2]
        ),
    )
    rows: Rows = tuple(
        (
            *(*line, result.score_interval(HEADLINE, "all", "clean")),
            *(_score(damages.get((*line, *damage)), zone) for damage in done for zone in ZONES[:2]),
        )
        for line, result in lines.items()
    )
    marked = "; in bold the two best models of a column on the same images and regions"
    note = f"Class-mean accuracy{marked if len({name for name, *_ in lines}) > 1 else ''}."
    among = (KEYS[1].key, KEYS[5].key)
    return Table("overview", "Inside and outside of what was damaged", columns, rows, note, among=among)


def _score(result: LocalResult | None, zone: str) -> Interval:
    return NOTHING if result is None else result.score_interval(HEADLINE, zone)


def masks(results: Sequence[LocalResult]) -> Table:
    """Tabulate the mean and the worst over several random regions, where such were tried."""
    columns = (
        *KEYS[:4],
        Column("ratio", "Ratio", "share"),
        Column("masks", "Masks", "count"),
        *(
            Column(f"{way}_rce_{zone}", f"RCE {zone}, {way}", "interval")
            for zone in ("inside", "outside")
            for way in ("mean", "worst")
        ),
    )
    groups: dict[tuple[Cell, ...], list[LocalResult]] = {}
    for result in results:
        if not math.isnan(result.ratio):
            groups.setdefault((result.model, result.data, result.what, result.strength, result.ratio), []).append(
                result
            )
    rows: Rows = tuple(
        (*key, len(members), *(value for zone in ("inside", "outside") for value in _mean_and_worst(members, zone)))
        for key, members in groups.items()
        if len(members) > 1
    )
    return Table("masks", "Several masks", columns, rows, "RCE of class-mean accuracy.")


def _mean_and_worst(results: Sequence[LocalResult], zone: str) -> tuple[Interval, Interval]:
    """Return the mean over masks and that of the mask with the largest loss."""
    known = [result for result in results if not math.isnan(result.rce(HEADLINE, zone))]
    if not known:
        return NOTHING, NOTHING
    worst = max(known, key=lambda result: result.rce(HEADLINE, zone))
    return mean_rce(known, HEADLINE, zone), worst.rce_interval(HEADLINE, zone)


TABLES = {
    "overview": overview,
    "all-corruptions": all_corruptions,
    "attacked": attacked,
    "common": common,
    "placements": placements,
    "positions": positions,
    "masks": masks,
    "drawn": drawn,
    "scores": scores,
}
