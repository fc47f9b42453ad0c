"""The rows that a shard is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from ..core import Perturbed
from ..data import Sample
from ..metrics.counts import ACTUAL, PREDICTED
from ..metrics.objects import object_hits, objects

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


def object_rows(row: Row, sample: Sample, maps: Mapping[str, Tensor], background: int | None) -> Iterator[Row]:
    """Yield how many pixels of each true object are right before, after, and both."""
    true_objects = objects(sample.labels.numpy(), sample.valid.numpy(), background)
    clean, after = maps["clean"].numpy(), maps[row["goal"]].numpy()
    both = np.where(clean == after, clean, -1)
    clean_hits, hits, kept = (object_hits(true_objects, labels).tolist() for labels in (clean, after, both))
    for number, (klass, area) in enumerate(
        zip(true_objects.classes.tolist(), true_objects.areas.tolist(), strict=True)
    ):
        yield {
            "image": row["image"],
            "goal": row["goal"],
            "object": number,
            "class": klass,
            "area": area,
            "clean": clean_hits[number],
            "correct": hits[number],
            "kept": kept[number],
        }
