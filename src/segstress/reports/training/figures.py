"""The curves of a training: its loss, and the figures of validation clean and under attack."""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import MaxNLocator

from ..kit.drawing import CALM, HARM, INK, PERCENT, Drawing, canvas, strokes
from .record import CLEAN, TrainingRecord
from .tables import TITLES

MARKS: dict[str, Any] = {"marker": "o", "markersize": 3.5}


def loss(record: TrainingRecord) -> Drawing | None:
    """Draw loss and accuracy in training, epoch by epoch."""
    if not record.history:
        return None
    figure, (left, right) = canvas(2.6, 2)
    across = [entry["epoch"] for entry in record.history]
    left.plot(across, [entry["loss"] for entry in record.history], color=INK, **MARKS)
    right.plot(across, [entry["accuracy"] for entry in record.history], color=CALM, **MARKS)
    left.set(title="loss", xlabel="epoch")
    right.set(title="accuracy in training, %", xlabel="epoch")
    right.yaxis.set_major_formatter(PERCENT)
    for axis in (left, right):
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    return Drawing("loss", "Training", "Mean over the steps of an epoch, on batches as they were trained on.", figure)


def validation(record: TrainingRecord) -> Drawing | None:
    """Draw the figures of validation, a panel for each, clean beside robust."""
    figures = [name for name in record.figures if name in TITLES][:3]
    if not record.looks or not figures:
        return None
    drawing, axes = canvas(2.9, len(figures))
    for axis, name in zip(axes, figures, strict=True):
        for look, stroke in zip(record.looks, strokes(len(record.looks)), strict=True):
            colour = CALM if look == CLEAN else HARM if len(record.looks) == 2 else stroke["color"]
            by_epoch = record.at(look, name)
            axis.plot(list(by_epoch), list(by_epoch.values()), color=colour, label=look, **MARKS)
        axis.set(title=TITLES[name], xlabel="epoch", ylim=(0, 1))
        axis.yaxis.set_major_formatter(PERCENT)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("%")
    drawing.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(record.looks))
    short = "" if record.looks == [CLEAN] else " Under an attack this short, figures are far above the worst case."
    caption = f"On images that are never trained on.{short}"
    return Drawing("validation", "Clean and robust" if short else "Validation", caption, drawing)


DRAWINGS = {"loss": loss, "validation": validation}
