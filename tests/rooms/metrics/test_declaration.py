"""What metrics declare decides which result they read, how their worst case is chosen and where they are shown."""

from __future__ import annotations

import numpy as np
import pytest
from test_worst_case import battery, choices, everywhere

from segstress.metrics import declare, metrics, over_images, over_pool
from segstress.metrics.scores import columns, image_accuracy, image_miou
from segstress.metrics.worst_case import choose_worst, greedy, lowest

BUILT_IN = {  # goal, pooled, zones, headline
    "accuracy": ("accuracy", False, "all foreground regions", True),
    "accuracy_image_mean": ("accuracy", False, "all foreground regions", False),
    "cmiou": ("miou", True, "all foreground regions", True),
    "nmiou": ("miou", False, "all foreground", True),
    "mean_accuracy": ("accuracy", False, "all regions", False),
    "fwiou": ("miou", False, "all", False),
    "nmiou_truth": ("miou", False, "all", False),
    "nmiou_zero": ("miou", False, "foreground", False),
    "micro_iou": ("accuracy", False, "", False),
    "micro_iou_image_mean": ("accuracy", False, "", False),
}


def image_dice(counts: np.ndarray) -> np.ndarray:
    """Mean over the classes that an image has; NaN where it has none."""
    hits, predicted, actual = columns(counts)
    both = predicted + actual
    with np.errstate(invalid="ignore"):
        return np.where(both > 0, 2 * hits / (both + (both == 0)), 0).sum(-1) / (both > 0).sum(-1)


def test_every_metric_of_ours_by_name() -> None:
    seen = {name: metrics.get(name).declaration for name in metrics.declared()}
    assert {n: (d.goal, d.pooled, " ".join(d.zones), d.headline) for n, d in seen.items()} == BUILT_IN


@pytest.mark.parametrize(
    ("name", "score"), [("accuracy", image_accuracy), ("mean_accuracy", image_accuracy), ("fwiou", image_miou)]
)
def test_images_are_chosen_by_the_declared_score(name: str, score) -> None:
    counts = battery(0)
    chosen = choose_worst(metrics.get(name).declaration, counts, everywhere(counts)).chosen
    assert chosen.tolist() == lowest(counts, everywhere(counts), score).chosen.tolist()


def test_without_a_word_the_own_score_chooses() -> None:
    metric = over_images(image_dice)
    assert metric.declaration.score is image_dice
    counts = battery(1)
    worst = choose_worst(metric.declaration, counts, everywhere(counts)).counts
    assert metric(worst) == pytest.approx(image_dice(counts).min(0).mean())


@pytest.mark.parametrize("seed", range(5))
def test_a_pooled_metric_is_sought_over_the_whole_set(seed: int) -> None:
    metric = declare(pooled=True)(over_pool(image_dice))
    counts, answered = battery(seed), everywhere(battery(seed))
    worst = metric(choose_worst(metric.declaration, counts, answered).counts)
    lowest_of_all = min(metric(counts[choice, np.arange(6)]) for choice in choices(answered))
    assert lowest_of_all - 1e-12 <= worst <= metric(lowest(counts, answered, image_dice).counts) + 1e-12


def test_an_attack_without_a_score_is_never_the_worst() -> None:
    """A plug-in's score may be NaN where ours are not."""

    def above_half(counts: np.ndarray) -> np.ndarray:
        values = image_accuracy(counts)
        return np.where(values < 0.5, np.nan, values)

    counts = np.array([[[[4, 10, 10]]], [[[7, 10, 10]]], [[[6, 10, 10]]]])  # three attacks on one image
    for selection in (lowest(counts, everywhere(counts), above_half), greedy(counts, everywhere(counts), above_half)):
        assert selection.chosen.tolist() == [2]
