"""The page of a training: what it says of epochs, looks and what is missing."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from segstress.reports.training.page import write_training
from segstress.reports.training.record import TrainingRecord
from segstress.reports.training.verdict import headline, points, verdict
from segstress.results.study import Frame


def entry(epoch: int, cmiou: float | None = None, robust: float | None = None) -> dict[str, Any]:
    looks = {"clean": cmiou, "pgd <8/255>": robust}
    validation = {name: {"accuracy": 2 * v, "cmiou": v, "nmiou": v} for name, v in looks.items() if v is not None}
    plain = {"epoch": epoch, "loss": 2.0 / epoch, "accuracy": 0.1 * epoch}
    return {**plain, "validation": validation} if validation else plain


def record(*history: dict[str, Any], epochs: int = 3) -> TrainingRecord:
    image, labels = np.full((3, 4, 4), 0.5, dtype=np.float32), np.zeros((4, 4), dtype=np.int64)
    frame = Frame("one", "pgd", image, image + 0.01, labels, labels, labels)
    card = {"command": "segstress train <plan>", "epoch": len(history), "architecture": {"kind": "compact"}}
    return TrainingRecord("a run", history, {"seed": 0}, card, [frame], ("ground",), ((0, 0, 0),), epochs, "abc123")


def test_clean_and_robust_figures_stand_beside_each_other(tmp_path: Path) -> None:
    full = record(entry(1, 0.2, 0.1), entry(2), entry(3, 0.4, 0.3))
    assert (
        headline(full) == "After 3 epochs 80.0 % (clean) and 60.0 % (under pgd <8/255>) of validation pixels are right."
    )
    text = write_training(full, tmp_path).read_text()
    assert "segstress train &lt;plan&gt;" in text
    assert "Warnings" not in text
    with (tmp_path / "tables" / "epochs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["clean cmiou"] for row in rows] == ["0.2", "", "0.4"], "nothing where it was not validated"
    assert {path.stem for path in (tmp_path / "figures").glob("*.svg")} == {"loss", "validation"}
    assert len(list((tmp_path / "gallery").glob("*.png"))) == 7


@pytest.mark.parametrize(
    ("made", "marked"),
    [
        (record(entry(1, 0.2, 0.1), entry(2, 0.2, 0.1), epochs=2), set()),
        (record(entry(1, 0.2, 0.1), epochs=2), {"INCOMPLETE"}),
        (record(entry(1, 0.2), epochs=1), {"Robustness"}),
        (record(entry(1, 0.2, 0.1), entry(2, 0.4, 0.1), epochs=2), {"Settled"}),
        (record({**entry(1), "loss": math.nan}, epochs=1), {"Loss", "Validated"}),
    ],
)
def test_what_is_open_is_marked(tmp_path: Path, made: TrainingRecord, marked: set[str]) -> None:
    assert {point.name for point in points(made) if not point.good} == marked
    assert write_training(made, tmp_path).is_file()


def test_the_best_epoch_is_named() -> None:
    assert "highest at epoch 2 (50.0 %)" in verdict(record(entry(1, 0.1), entry(2, 0.5), entry(3, 0.4)))


def test_nothing_done_is_said(tmp_path: Path) -> None:
    text = write_training(replace(record(), frames=[]), tmp_path).read_text()
    assert "No epoch is done yet." in text
    assert "Samples" not in text
