"""Corruptions of whole images, beside those of the first model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ...metrics.intervals import Interval
from ...results.degradation import corruption_degradation, relative_degradation
from ...results.local import LocalResult, mean_rce, mean_score
from ..kit.table import Cell, Column, Table
from .keys import KEYS


def common(results: Sequence[LocalResult]) -> Table:
    """Show corruptions of whole images as Cityscapes-C papers do; the first model is the reference of CD and rCD."""
    columns = (
        *KEYS[:3],
        Column("severities", "Severities"),
        Column("miou", "mIoU, mean", "interval"),
        Column("retention", "Retention", "interval"),
        Column("cd", "CD", "interval"),
        Column("rcd", "rCD", "interval"),
    )
    whole = sorted((result for result in results if not result.region), key=lambda result: (result.data, result.what))
    rows: list[tuple[Cell, ...]] = []
    for (data, what), members in groupby(whole, key=lambda result: (result.data, result.what)):
        by_model: dict[str, list[LocalResult]] = {}
        for result in members:
            by_model.setdefault(result.model, []).append(result)
        reference = next(iter(by_model.values()))
        for model, own in by_model.items():
            severities = ",".join(f"{severity:g}" for severity in sorted(result.severity for result in own))
            beside = (measure(reference, own, "cmiou") for measure in (corruption_degradation, relative_degradation))
            rows.append((model, data, what, severities, mean_score(own, "cmiou", "all"), _retained(own), *beside))
    note = (
        "CD = sum over severities of 1 - mIoU over that of the first model; rCD the same of the loss against clean;"
        " retention = mean mIoU over clean mIoU. In percent; both models are weighed by the same images."
    )
    return Table("common", "Corruptions of the whole image", columns, tuple(rows), note)


def _retained(results: Sequence[LocalResult]) -> Interval:
    """Return what is left of the clean mIoU: one minus the mean of what is lost."""
    lost = mean_rce(results, "cmiou", "all")
    return Interval(1 - lost.value, 1 - lost.high, 1 - lost.low)
