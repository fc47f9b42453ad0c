"""The worst case that a progress line shows."""

from __future__ import annotations

from collections.abc import Callable
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


def counted(name: str) -> Callable[[Counting, int], int]:
    """An operation of whole numbers that is counted."""

    def act(one: Counting, other: int) -> int:
        Counting.done += 1
        return getattr(int, name)(one, other)

    return act


class Counting(int):
    """A number that counts what is done with any of its kind."""

    done = 0
    __add__, __radd__, __sub__, __rsub__ = map(counted, ("__add__", "__radd__", "__sub__", "__rsub__"))
    __lt__, __gt__ = map(counted, ("__lt__", "__gt__"))


def test_an_answer_takes_no_more_work_with_many_images_than_with_few() -> None:
    worst, operations = WorstSoFar(), []
    for number in range(400):
        before = Counting.done
        worst.add([Left(("cnn", "shapes"), f"image {number % 200}", Counting(number % 7), 100)])
        operations.append(Counting.done - before)
    assert max(operations[200:]) <= max(operations[:10]) + 2 <= 8


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
