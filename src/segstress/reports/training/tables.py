"""Tables of a training: every epoch, and the card of its last model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from ..kit.table import Cell, Column, Table
from .record import TrainingRecord

TITLES = {"accuracy": "Accuracy", "cmiou": "CmIoU", "nmiou": "NmIoU", "accuracy_foreground": "Accuracy, foreground"}


def epochs(record: TrainingRecord) -> Table:
    """Return one line for every epoch: loss and accuracy in training, figures of validation where it was its turn."""
    looked = [(look, figure) for look in record.looks for figure in record.figures]
    columns = (
        Column("epoch", "Epoch", "count"),
        Column("loss", "Loss", "number", best="lowest"),
        Column("accuracy", "Accuracy in training", "share"),
        *(
            Column(f"{look} {figure}", f"{TITLES.get(figure, figure)}, {look}", "share", best="highest")
            for look, figure in looked
        ),
    )
    rows = tuple(
        (
            *(entry["epoch"], entry["loss"], entry["accuracy"]),
            *(entry.get("validation", {}).get(look, {}).get(figure, math.nan) for look, figure in looked),
        )
        for entry in record.history
    )
    note = "Accuracy in training is that of the batches as they came, attacked ones as attacked. Best in bold."
    return Table("epochs", "Epoch by epoch", columns, rows, note)


def card(record: TrainingRecord) -> Table:
    """Return the plan and the card of the last model, key by key."""
    first = {key: record.card[key] for key in ("command", "epoch") if key in record.card}
    rows = tuple(_lines({**first, **record.card, "plan": dict(record.plan)}))
    return Table("card", "The card", (Column("key", "Key"), Column("value", "Value")), rows)


def _lines(values: object, key: str = "") -> Iterator[tuple[Cell, ...]]:
    """Flatten nested settings into dotted keys."""
    if isinstance(values, dict) and values:
        for name, value in values.items():
            yield from _lines(value, f"{key}.{name}" if key else str(name))
    else:
        yield key, values if isinstance(values, str) else json.dumps(values)


TABLES = {"epochs": epochs, "card": card}
