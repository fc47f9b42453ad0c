"""Curves of a training for TensorBoard, which not everyone has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..core import BadInput
from .loop import Moment, Watcher


@contextmanager
def board(folder: Path, other: Watcher) -> Iterator[Watcher]:
    """Yield a watcher that writes loss, accuracy and validation into the folder, and tells the other one too."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise BadInput(f"--tensorboard needs more: pip install 'segstress[tensorboard]' ({error})") from error
    writer: Any = SummaryWriter(str(folder))

    def step(moment: Moment) -> None:
        writer.add_scalar("step/loss", moment.loss, moment.step)
        writer.add_scalar("step/accuracy", moment.accuracy, moment.step)
        other.step(moment)

    def epoch(entry: dict[str, Any]) -> None:
        for look, figures in entry.get("validation", {}).items():
            for name, value in figures.items():
                writer.add_scalar(f"{look}/{name}", value, entry["epoch"])
        other.epoch(entry)

    try:
        yield Watcher(step=step, epoch=epoch, warn=other.warn)
    finally:
        writer.close()
