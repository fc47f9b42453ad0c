"""Worst cases over attacks against brute force."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest

from segstress.metrics import metrics
from segstress.metrics.scores import accuracy_image_mean, cmiou, image_accuracy, image_miou, nmiou
from segstress.metrics.worst_case import NOBODY, bound, choose_worst, greedy, lowest, tied

RULES = ["present", "truth", "fixed"]
# Of two attacks on one image, the second of lower accuracy, the first of lower mIoU.
DECLARED = {"accuracy": [1], "accuracy_image_mean": [1], "nmiou": [0], "cmiou": [0], "mean_accuracy": [1], "fwiou": [0]}


def battery(seed: int, attacks: int = 3, images: int = 6, classes: int = 4, pixels: int = 40) -> np.ndarray:
    """Counts of attacks that flood one class and spare others, so that no attack is best; the last is never true."""
    random = np.random.default_rng(seed)
    labels = np.broadcast_to(random.integers(0, classes - 1, (images, pixels)), (attacks, images, pixels))
    odds = np.take_along_axis(random.random((attacks, images, classes)), labels, 2)
    flood = random.integers(0, classes, (attacks, images, 1))
    prediction = np.where(random.random(labels.shape) < odds, flood, labels)
    said, true = (values[:, :, None] == np.arange(classes)[:, None] for values in (prediction, labels))
    return np.stack([(said & true).sum(-1), said.sum(-1), true.sum(-1)], -1)


def everywhere(counts: np.ndarray) -> np.ndarray:
    return np.ones(counts.shape[:2], dtype=bool)


def choices(answered: np.ndarray):
    """Every way of choosing an attack for each image among those that answered."""
    return (np.array(choice) for choice in product(*(np.flatnonzero(column) for column in answered.T)))


def brute_force(counts: np.ndarray, answered: np.ndarray, absent: str) -> float:
    images = np.arange(counts.shape[1])
    return min(cmiou(counts[choice, images], absent=absent) for choice in choices(answered))


@pytest.mark.parametrize("absent", RULES)
@pytest.mark.parametrize("seed", range(5))
def test_greedy_lies_between_brute_force_and_every_start(seed: int, absent: str) -> None:
    """bound <= brute force <= greedy <= each attack alone and both selections."""
    counts = battery(seed)
    answered = everywhere(counts)
    found = cmiou(greedy(counts, answered, partial(image_miou, absent=absent)).counts, absent=absent)
    best = brute_force(counts, answered, absent)
    starts = [*counts, lowest(counts, answered).counts]
    starts.append(lowest(counts, answered, partial(image_miou, absent=absent)).counts)
    assert bound(counts, answered, absent) <= best + 1e-12
    assert best <= found + 1e-12
    assert found <= min(cmiou(start, absent=absent) for start in starts) + 1e-12


def test_greedy_usually_finds_the_minimum() -> None:
    """Local search may miss it: the worst start alone misses about a third of these, all together hardly one."""
    found = 0
    for seed in range(10):
        counts = battery(seed, images=7, classes=6)
        best = brute_force(counts, everywhere(counts), "present")
        found += cmiou(greedy(counts, everywhere(counts)).counts) <= best + 1e-12
    assert found >= 9


@pytest.mark.parametrize("seed", range(3))
def test_no_single_image_can_improve_the_greedy_choice(seed: int) -> None:
    """Which one pass over the images does not reach."""
    counts = battery(seed, attacks=5, images=40, classes=8)
    selection = greedy(counts, everywhere(counts))
    totals = selection.counts.sum(0)
    options = totals - selection.counts + counts
    assert image_miou(options).min() > image_miou(totals[None]) - 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_bound_with_missing_answers(seed: int) -> None:
    """What did not answer is never chosen, even where its stored counts look terrible."""
    counts = battery(seed)
    answered = np.random.default_rng(seed).random(counts.shape[:2]) < 0.6
    answered[0, answered.sum(0) == 0] = True
    counts[~answered, :, 0] = 0
    selection = greedy(counts, answered)
    assert (selection.chosen != NOBODY).all()
    assert answered[selection.chosen, np.arange(counts.shape[1])].all()
    best = brute_force(counts, answered, "present")
    assert bound(counts, answered) <= best + 1e-12
    assert best <= cmiou(selection.counts) + 1e-12


def test_the_bound_is_exact_for_one_class() -> None:
    """With a single class in play the mean is that class, and each minimum can be had."""
    for seed in range(5):
        counts = battery(seed)[:, :, 1:2]
        counts = counts[:, counts[0, :, 0, 2] > 0]  # the images where the class is true
        answered = everywhere(counts)
        assert bound(counts, answered) == pytest.approx(brute_force(counts, answered, "present"))


def test_a_class_that_is_nowhere_does_not_lower_the_bound() -> None:
    counts = battery(0)
    answered = everywhere(counts)
    wider = np.concatenate([counts, np.zeros_like(counts[:, :, :1])], axis=2)
    assert bound(wider, answered) == bound(counts, answered)


def test_the_lowest_of_each_image_by_each_score() -> None:
    """Image 0: attack 1 has fewer hits, attack 0 the lower mIoU; the figures follow the choice."""
    # One image of 10 pixels: 8 of class 0 and 2 of class 1.
    counts = np.array([[[[8, 10, 8], [0, 0, 2]]], [[[6, 7, 8], [1, 3, 2]]]])
    answered = everywhere(counts)
    by_accuracy, by_miou = lowest(counts, answered), lowest(counts, answered, image_miou)
    assert by_accuracy.chosen.tolist() == [1]
    assert by_accuracy.values.tolist() == [0.7]
    assert by_miou.chosen.tolist() == [0]
    assert by_miou.values == pytest.approx([0.4])  # (8/10 + 0/2) / 2 against (6/9 + 1/4) / 2 = 11/24
    assert nmiou(by_miou.counts) == pytest.approx(0.4)
    assert not tied(counts, answered).any()
    chosen = {name: choose_worst(metrics.get(name).declaration, counts, answered).chosen.tolist() for name in DECLARED}
    assert chosen == DECLARED, "each figure's worst case is chosen by its own score"


@pytest.mark.parametrize("score", [image_accuracy, image_miou])
def test_the_lowest_is_the_minimum_over_candidates(score) -> None:
    """Checked against a plain loop, on a set with missing answers."""
    counts = battery(7, attacks=4, images=8)
    answered = np.random.default_rng(0).random(counts.shape[:2]) < 0.7
    answered[1, ~answered.any(0)] = True
    values = score(counts)
    minima = [min(values[answered[:, image], image]) for image in range(8)]
    assert lowest(counts, answered, score).values == pytest.approx(minima)


def test_ties_go_to_the_first_and_are_counted() -> None:
    """Attack 0 breaks nothing, 1 and 2 everything; without an answer of attack 1 there is no tie."""
    counts = battery(0)
    counts[0] = counts[0, :, :, 2:]
    counts[1:, :, :, 0] = 0
    answered = everywhere(counts)
    assert lowest(counts, answered).chosen.tolist() == [1] * 6
    assert tied(counts, answered).all()
    answered[1] = False
    assert not tied(counts, answered).any()


def test_an_image_without_candidate_is_nobodys_and_left_out() -> None:
    """Unanswered by all, or all void: NaN for itself, no part of any figure."""
    counts = battery(3)
    answered = everywhere(counts)
    answered[:, 2] = False
    counts[:, 4] = 0
    kept = [0, 1, 3, 5]
    for selection in (lowest(counts, answered), lowest(counts, answered, image_miou), greedy(counts, answered)):
        assert selection.chosen[[2, 4]].tolist() == [NOBODY, NOBODY]
        assert np.isnan(selection.values[[2, 4]]).all()
        assert not selection.counts[[2, 4]].any()
        assert (selection.chosen[kept] >= 0).all()
    alone = greedy(counts[:, kept], answered[:, kept])
    assert cmiou(greedy(counts, answered).counts) == pytest.approx(cmiou(alone.counts))
    assert bound(counts, answered) == pytest.approx(bound(counts[:, kept], answered[:, kept]))
    assert accuracy_image_mean(lowest(counts, answered).counts) == pytest.approx(
        lowest(counts, answered).values[kept].mean()
    )


def test_nothing_answered_gives_nan() -> None:
    """No zero, no crash."""
    counts = battery(1)
    nothing = ~everywhere(counts)
    assert np.isnan(bound(counts, nothing))
    assert np.isnan(cmiou(greedy(counts, nothing).counts))
