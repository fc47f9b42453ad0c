"""The worst case that a progress line shows."""

from __future__ import annotations

from pathlib import Path

from segstress.evaluation import evaluate
from segstress.evaluation.worst_so_far import Left, WorstSoFar
from segstress.runtime import Progress, RunOptions


def test_fewest_pixels_of_each_image_are_summed() -> None:
    worst, names = WorstSoFar(), ("cnn", "shapes")
    worst.add([Left(names, "a", 80, 100), Left(names, "b", 60, 100)])
    assert worst.add([Left(names, "a", 20, 100), Left(names, "b", 90, 100)]) == "worst case so far 40.0 % of 2 images"
    assert worst.add([Left(("other", "shapes"), "a", 10, 100)]) == "worst case so far 10.0 % of 1 images"
    assert worst.add([]) == ""


def test_progress_of_a_run_says_it_but_not_for_smallest_changes(tmp_path: Path) -> None:
    said: list[str] = []
    progress = Progress(advance=lambda number, words="": said.append(words))
    asked = {"models": ["compact:cnn-normal"], "data": ["shapes:test?count=1&size=32"], "eps": "8/255"}
    evaluate({**asked, "perturbations": ["pgd?steps=2"]}, tmp_path / "most", RunOptions(workers=1), progress)
    assert "worst case so far" in said[-1]
    said.clear()
    asked.pop("eps")
    evaluate({**asked, "perturbations": ["fmn-auto?steps=2"]}, tmp_path / "least", RunOptions(workers=1), progress)
    assert "worst case so far" not in said[-1]
