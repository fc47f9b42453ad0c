"""Tables of localized damage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby

from ...metrics import metrics
from ...results.local import FIGURES, HEADLINE, Spot, known_mean
from ..kit.table import Cell, Column, Rows, Table

ZONES = ("inside", "outside", "all")
KEYS = (
    Column("model", "Model"),
    Column("data", "Data"),
    Column("perturbation", "Perturbation"),
    Column("severity", "Severity or eps"),
    Column("steps", "Steps", "count"),
    Column("region", "Region"),
    Column("goal", "Goal"),
)


def _keys(spot: Spot) -> tuple[Cell, ...]:
    return spot.model, spot.data, spot.what, spot.strength, spot.steps, spot.where, spot.goal


def scores(spots: Sequence[Spot]) -> Table:
    """Every figure in every zone, clean and perturbed, with RCE: all that the other tables say."""
    columns = (
        *KEYS,
        Column("figure", "Figure"),
        Column("share_inside", "Inside", "share"),
        *(
            Column(f"{part}_{zone}", f"{title}, {zone}", "share")
            for zone in ZONES
            for part, title in (("clean", "Clean"), ("perturbed", "Perturbed"), ("rce", "RCE"))
        ),
        Column("spread", "Out/in", "number"),
        Column("empty_inside", "No pixel inside", "count"),
        Column("empty_outside", "No pixel outside", "count"),
    )
    rows: Rows = tuple(
        (
            *(*_keys(spot), figure, spot.share()),
            *(
                value
                for zone in ZONES
                for value in (spot.score(figure, zone, "clean"), spot.score(figure, zone), spot.rce(figure, zone))
            ),
            *(spot.spread(figure), spot.empty("inside"), spot.empty("outside")),
        )
        for spot in spots
        for figure in (*FIGURES, *_others())
    )
    return Table("scores", "Every figure", columns, rows, NOTE, folded=True)


def _others() -> list[str]:
    """Metrics of plug-ins that declare themselves for regions."""
    return [
        name for name in metrics.declared() if "regions" in metrics.get(name).declaration.zones if name not in FIGURES
    ]


NOTE = (
    "RCE = (clean - perturbed) / clean, both on the same region; on the whole image it is the paper's CE. Out/in = RCE"
    " outside x area outside over RCE inside x area inside. Images without a pixel in a zone are left out and counted."
)


def overview(spots: Sequence[Spot]) -> Table:
    """Class-mean accuracy inside / outside under every perturbation, a line per model and region (arXiv:2504.01632)."""
    spots = [spot for spot in spots if spot.region and spot.goal == "any" and not spot.corner]
    done = list(dict.fromkeys((spot.what, spot.strength) for spot in spots))
    damages = {(spot.model, spot.data, spot.where, spot.what, spot.strength): spot for spot in spots}
    lines = {key[:3]: spot.score(HEADLINE, "all", "clean") for key, spot in damages.items()}
    columns = (
        *(*KEYS[:2], KEYS[5]),
        Column("clean", "Clean", "share"),
        *(
            Column(f"{what} {strength} {zone}", f"{what} {strength}, {zone}", "share")
            for what, strength in done
            for zone in ZONES[:2]
        ),
    )
    rows: Rows = tuple(
        (*line, clean, *(_score(damages.get((*line, *damage)), zone) for damage in done for zone in ZONES[:2]))
        for line, clean in lines.items()
    )
    return Table("overview", "Inside and outside of what was damaged", columns, rows, "Class-mean accuracy.")


def _score(spot: Spot | None, zone: str) -> float:
    return math.nan if spot is None else spot.score(HEADLINE, zone)


def common(spots: Sequence[Spot]) -> Table:
    """Corruptions of whole images as Cityscapes-C papers print them; the first model is the reference of CD and rCD."""
    columns = (
        *KEYS[:3],
        Column("severities", "Severities"),
        Column("miou", "mIoU, mean", "share"),
        Column("retention", "Retention", "share"),
        Column("cd", "CD", "number"),
        Column("rcd", "rCD", "number"),
    )
    whole = sorted((spot for spot in spots if not spot.region), key=lambda spot: (spot.data, spot.what))
    rows: list[tuple[Cell, ...]] = []
    for (data, what), members in groupby(whole, key=lambda spot: (spot.data, spot.what)):
        by_model: dict[str, list[Spot]] = {}
        for spot in members:
            by_model.setdefault(spot.model, []).append(spot)
        reference = _degradation(next(iter(by_model.values())))
        for model, own in by_model.items():
            lost, more = _degradation(own)
            mean = known_mean(spot.score("cmiou", "all") for spot in own)
            severities = ",".join(f"{severity:g}" for severity in sorted(spot.severity for spot in own))
            retention = mean / own[0].score("cmiou", "all", "clean")
            rows.append((model, data, what, severities, mean, retention, lost / reference[0], more / reference[1]))
    note = (
        "CD = sum over severities of 1 - mIoU over that of the first model; rCD the same of the loss against clean;"
        " retention = mean mIoU over clean mIoU."
    )
    return Table("common", "Corruptions of the whole image", columns, tuple(rows), note)


def _degradation(spots: Iterable[Spot]) -> tuple[float, float]:
    """Sum over severities of 1 - mIoU, and of what clean has more."""
    pairs = [(spot.score("cmiou", "all"), spot.score("cmiou", "all", "clean")) for spot in spots]
    return sum(1 - miou for miou, _ in pairs), sum(clean - miou for miou, clean in pairs) or math.nan


def attacked(spots: Sequence[Spot]) -> Table:
    """Several attacks on one region: the best of them alone, and all together."""
    columns = (
        *KEYS[:6],
        Column("attacks", "Attacks", "count"),
        Column("clean", "Clean, outside", "share"),
        Column("single", "Best single, outside", "share"),
        Column("cumulative", "All together, outside", "share"),
        Column("rce_single", "RCE, single", "share"),
        Column("rce_cumulative", "RCE, together", "share"),
    )
    groups: dict[tuple[Cell, ...], list[Spot]] = {}
    for spot in spots:
        if spot.goal.startswith(("attack-", "cumulative-")):
            groups.setdefault(_keys(spot)[:6], []).append(spot)
    rows: list[tuple[Cell, ...]] = []
    for key, members in groups.items():
        alone = [spot for spot in members if spot.goal.startswith("attack-")]
        single = min(alone, key=lambda spot: spot.score(HEADLINE, "outside"))
        together = next(spot for spot in members if spot.goal == f"cumulative-{len(alone)}")
        figures = [
            together.score(HEADLINE, "outside", "clean"),
            *(spot.score(HEADLINE, "outside") for spot in (single, together)),
            *(spot.rce(HEADLINE, "outside") for spot in (single, together)),
        ]
        rows.append((*key, len(alone), *figures))
    note = (
        "Class-mean accuracy. All together: each pixel as the first attack that fooled it left it, a worst case pixel"
        " by pixel that no single image attains. Every attack figure is an upper bound on robustness."
    )
    return Table("attacked", "Attacks on a region", columns, tuple(rows), note)


def masks(spots: Sequence[Spot]) -> Table:
    """Where several random regions were tried: the mean over them and the worst of them."""
    columns = (
        *KEYS[:4],
        Column("ratio", "Ratio", "share"),
        Column("masks", "Masks", "count"),
        *(
            Column(f"{way}_rce_{zone}", f"RCE {zone}, {way}", "share")
            for zone in ("inside", "outside")
            for way in ("mean", "worst")
        ),
    )
    groups: dict[tuple[Cell, ...], list[Spot]] = {}
    for spot in spots:
        if not math.isnan(spot.ratio):
            groups.setdefault((spot.model, spot.data, spot.what, spot.strength, spot.ratio), []).append(spot)
    rows: Rows = tuple(
        (*key, len(members), *(value for zone in ("inside", "outside") for value in _mean_and_worst(members, zone)))
        for key, members in groups.items()
        if len(members) > 1
    )
    return Table("masks", "Several masks", columns, rows, "RCE of class-mean accuracy.")


def _mean_and_worst(spots: Sequence[Spot], zone: str) -> tuple[float, float]:
    values = [spot.rce(HEADLINE, zone) for spot in spots]
    return known_mean(values), max((value for value in values if not math.isnan(value)), default=math.nan)


TABLES = {"overview": overview, "attacked": attacked, "common": common, "masks": masks, "scores": scores}
