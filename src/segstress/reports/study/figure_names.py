"""Names of figures: a metric, the zone that it is taken in, and how its worst case is chosen.

`nmiou`, `nmiou_foreground`; `cmiou_selected` is the worst case of a pooled metric when images are chosen one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...metrics import Declaration, Metric, metrics

ZONES = ("all", "foreground")
FOREGROUND, SELECTED = "_foreground", "_selected"


class FigureName(NamedTuple):
    """What a figure's name stands for."""

    metric: str
    zone: str
    selected: bool


def read_name(figure: str) -> FigureName:
    """Take a figure's name apart."""
    plain = figure.removesuffix(FOREGROUND)
    metric = plain.removesuffix(SELECTED)
    return FigureName(metric, "all" if plain == figure else "foreground", metric != plain)


def figures() -> tuple[str, ...]:
    """Name every figure that reports show, as metrics are registered, those with a foreground first."""
    zones = {name: metrics.get(name).declaration.zones for name in metrics.declared()}
    both, others = ([name for name in zones if ("foreground" in zones[name]) == wanted] for wanted in (True, False))
    plain = (name for name in both if "all" in zones[name])
    return (*plain, *(f"{name}{FOREGROUND}" for name in both), *(name for name in others if "all" in zones[name]))


def selected_figures() -> tuple[str, ...]:
    """Return worst cases of pooled metrics as a battery's paper chooses them: each image by its own score."""
    return tuple(
        name.removesuffix(FOREGROUND) + SELECTED + (FOREGROUND if name.endswith(FOREGROUND) else "")
        for name in figures()
        if declaration_of(name).pooled
    )


def headline() -> tuple[str, ...]:
    """Return the figures of short tables, of curves and of the terminal."""
    return tuple(name for name in figures() if read_name(name).zone == "all" and declaration_of(name).headline)


def declaration_of(figure: str) -> Declaration:
    """Return what the metric of a figure declares, for this figure's worst case."""
    name = read_name(figure)
    declared: Declaration = metrics.get(name.metric).declaration
    return replace(declared, pooled=declared.pooled and not name.selected)


def metric_of(figure: str) -> Metric:
    """Return the function of counts that a figure's name stands for."""
    metric: Metric = metrics.get(read_name(figure).metric)
    return metric


def value_of(figure: str, counts: np.ndarray) -> float:
    """Return the value of a figure for counts (images, classes, 3)."""
    return float(metric_of(figure)(counts))


def title(figure: str) -> str:
    """Write the figure's name as people do."""
    name = read_name(figure)
    text = metrics.about(name.metric).partition(":")[0]
    return text if name.zone == "all" else f"{text}, foreground"
