"""Accuracy against passes: whether an attack was still gaining when it ended, and what a battery gains in its order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import FuncFormatter

from ...metrics.counts import ACTUAL
from ..kit.drawing import HARM, INK, PERCENT, Drawing, canvas, strokes
from ..kit.naming import in_lines
from ..kit.table import Column, Rows, Table
from .assessment import Assessment
from .registry import drawings, tables

BATTERY = "all in this order"
ROUND = tuple(factor * 10**power for power in range(7) for factor in (1, 2, 5))  # passes that a table shows


@dataclass(frozen=True, eq=False)
class Descent:
    """The share of pixels right after so many forward passes on every image."""

    label: str
    traces: tuple[Mapping[int, int], ...]  # of each image: forwards -> fewest pixels right
    pixels: int  # of these images

    @property
    def passes(self) -> list[int]:
        """Every number of forwards at which something is known."""
        return sorted({passes for trace in self.traces for passes in trace})

    def at(self, passes: Iterable[int]) -> np.ndarray:
        """Return shares after these numbers of forwards; an image that ended earlier stays as it was left."""
        numbers = np.array(list(passes))
        right = np.zeros(len(numbers))
        for trace in self.traces:
            known = np.array(list(trace))
            right += np.array(list(trace.values()))[np.searchsorted(known, numbers, side="right").clip(min=1) - 1]
        return right / self.pixels


def descents(assessment: Assessment) -> list[Descent]:
    """Return one for each attack that tells of its way, and one for all of them in declared order."""
    traced = {outcome.label: outcome.traces for outcome in assessment.study.outcomes if outcome.traces}
    if not traced:
        return []
    together = {
        id_: _joined([traces[id_] for traces in traced.values() if id_ in traces]) for id_ in assessment.study.ids
    }
    if len(traced) > 1:
        traced[BATTERY] = {id_: trace for id_, trace in together.items() if trace}
    return [_descent(assessment, label, traces) for label, traces in traced.items()]


def _descent(assessment: Assessment, label: str, traces: Mapping[str, Mapping[int, int]]) -> Descent:
    valid = dict(zip(assessment.study.ids, assessment.candidate("accuracy")[..., ACTUAL].sum(-1).tolist(), strict=True))
    known = [id_ for id_ in traces if valid.get(id_)]
    return Descent(label, tuple(traces[id_] for id_ in known), max(1, sum(valid[id_] for id_ in known)))


def _joined(traces: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Join one trace after the other: passes add up, and the fewest pixels right so far stay."""
    joined: dict[int, int] = {}
    spent, fewest = 0, np.inf
    for trace in traces:
        for passes, correct in trace.items():
            fewest = min(fewest, correct)
            joined[spent + passes] = int(fewest)
        spent += max(trace)
    return joined


@tables.register("convergence")
def convergence(assessment: Assessment) -> Table:
    """Return one line per attack: accuracy after so many passes, and at its end."""
    curves = descents(assessment)
    longest = max((descent.passes[-1] for descent in curves), default=0)
    marks = [passes for passes in ROUND if passes < longest]
    columns = (
        Column("perturbation", "Perturbation"),
        *(Column(f"after_{passes}", f"{passes:,}", "share") for passes in marks),
        Column("end", "End", "share"),
        Column("passes", "Passes", "count"),
    )
    rows: Rows = tuple(
        (descent.label, *descent.at([*marks, longest]).tolist(), descent.passes[-1]) for descent in curves
    )
    note = "Accuracy when every image has had so many forward passes; the fewest pixels right so far count."
    return Table("convergence", "Accuracy against passes", columns, rows, note, folded=True)


@drawings.register("convergence")
def convergence_drawing(assessment: Assessment) -> Drawing | None:
    """Draw the same as curves, where any attack tells of its way."""
    curves = descents(assessment)
    if not curves:
        return None
    figure, (axis,) = canvas(3.4)
    for descent, stroke in zip(curves, strokes(len(curves)), strict=True):
        look = {"color": HARM, "linewidth": 2.2} if descent.label == BATTERY else stroke
        axis.plot(descent.passes, descent.at(descent.passes), label=in_lines(descent.label), **look)
    axis.set(xscale="log", ylim=(0, None), xlabel="forward passes on each image", ylabel="pixels right, %")
    axis.set_xticks([passes for passes in ROUND if passes <= curves[-1].passes[-1]])
    axis.xaxis.set_major_formatter(FuncFormatter(lambda passes, _: f"{passes:,.0f}"))
    axis.minorticks_off()
    axis.axhline(assessment.constant("accuracy"), color=INK, linestyle=":", linewidth=1, label="one class everywhere")
    axis.yaxis.set_major_formatter(PERCENT)
    figure.legend(loc="outside right upper")
    caption = (
        "Accuracy after so many passes of each attack, and of all of them one after the other. A curve that still falls"
        " at its end asks for more steps."
    )
    return Drawing("convergence", "Accuracy against passes", caption, figure)
