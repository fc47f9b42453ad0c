"""The first screen of a training: how good the model is by now, and what speaks against trusting that."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..kit.naming import percent, plural
from ..kit.verdict import Point
from .record import CLEAN, TrainingRecord

SETTLED = 0.01  # rise of the last validation above the one before, from which on training may not be at its end


def headline(record: TrainingRecord) -> str:
    """Say in one sentence how good the model is after its last validation."""
    if not record.history:
        return "No epoch is done yet."
    if not record.looks:
        trained = percent(record.history[-1]["accuracy"])
        return f"After {plural(record.done, 'epoch')} {trained} % of training pixels are right; nothing was validated."
    words = [f"{percent(_last(record, look))} % ({_under(look)})" for look in record.looks]
    return f"After {plural(record.done, 'epoch')} {' and '.join(words)} of validation pixels are right."


def verdict(record: TrainingRecord) -> str:
    """Say in one paragraph how loss and figures went, and which epoch is best."""
    if not record.history:
        return "There is nothing to show."
    first, last = record.history[0], record.history[-1]
    words = [f"The loss went from {first['loss']:.3f} to {last['loss']:.3f}."]
    for look in record.looks:
        by_epoch = record.at(look, "cmiou")
        best = max(by_epoch, key=lambda epoch: _sortable(by_epoch[epoch]))
        words.append(
            f"CmIoU {_under(look)} is {percent(list(by_epoch.values())[-1])} % at the last validation, and was highest"
            f" at epoch {best} ({percent(by_epoch[best])} %)."
        )
    return " ".join(words)


def points(record: TrainingRecord) -> Iterator[Point]:
    """Yield what speaks for and against the model."""
    whole = record.done >= record.epochs
    yield Point("Complete" if whole else "INCOMPLETE", f"{record.done} of {plural(record.epochs, 'epoch')} done", whole)
    losses = [entry["loss"] for entry in record.history]
    finite = all(map(math.isfinite, losses))
    yield Point("Loss", "a number in every epoch" if finite else "no number in some epochs", finite)
    yield Point("Validated", " and ".join(map(_under, record.looks)) or "never: give --validation", bool(record.looks))
    if record.looks and len(record.looks) == 1:
        yield Point("Robustness", "not looked at: the plan has no probe", good=False)
    for look in record.looks:
        values = list(record.at(look, "cmiou").values())
        if len(values) > 1 and values[-1] - values[-2] > SETTLED:
            yield Point("Settled", f"CmIoU {_under(look)} still rose at the last validation", good=False)
    yield Point("Weights", record.weights, good=True)


def _last(record: TrainingRecord, look: str) -> float:
    return list(record.at(look, "accuracy").values())[-1]


def _under(look: str) -> str:
    return "clean" if look == CLEAN else f"under {look}"


def _sortable(value: float) -> float:
    return -math.inf if math.isnan(value) else value
