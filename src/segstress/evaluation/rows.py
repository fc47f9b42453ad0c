"""The rows that a shard is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..core import Perturbed
from ..data import Sample
from ..metrics.counts import ACTUAL, PREDICTED

Row = dict[str, Any]


def row_of(id_: str, seed: int, sample: Sample | None = None) -> Row:
    """Return the beginning of an image's row."""
    row: Row = dict.fromkeys(("goal", "message", "finisher", "source"), "")
    row |= {"image": id_, "status": "ok", "seed": seed, "forwards": 0, "backwards": 0}
    if sample is not None:
        row["source"], row["message"] = sample.source, "; ".join(sample.notes)
        row["height"], row["width"] = sample.labels.shape
        row["channels"] = len(sample.image)
    return row


def trace_rows(ids: Sequence[str], perturbed: Perturbed) -> Iterator[Row]:
    """Yield how an attack got on, where it says so."""
    for id_, trace in zip(ids, perturbed.traces, strict=False):
        yield from ({"image": id_, "forwards": forwards, "correct": correct} for forwards, correct in trace.items())


def count_rows(row: Row, tallies: Mapping[tuple[str, str], np.ndarray]) -> Iterator[Row]:
    """Yield the classes that occur in truth or prediction, zone by zone."""
    for (state, zone), tally in tallies.items():
        for klass in np.flatnonzero(tally[:, PREDICTED] + tally[:, ACTUAL]).tolist():
            hits, predicted, actual = tally[klass].tolist()
            yield {
                "image": row["image"],
                "goal": row["goal"],
                "state": state,
                "zone": zone,
                "class": klass,
                "hits": hits,
                "predicted": predicted,
                "actual": actual,
            }
