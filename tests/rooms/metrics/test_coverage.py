"""Intervals hold their level: 95 % of samples of sixteen images, real and generated, hold the true figure."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from segstress.data import load as load_data
from segstress.data import stack
from segstress.metrics.counts import count, predict
from segstress.metrics.intervals import Interval
from segstress.metrics.scores import accuracy, cmiou, nmiou
from segstress.models import load
from segstress.testing.coverage import coverage, generated_counts

IMAGES = 16
LEAST = 0.94


def on_shapes(model: str, images: int) -> np.ndarray:
    """Count per image of shapes:val, clean."""
    network, source = load(model), load_data(f"shapes:val?count={images}")
    batches = (stack([source.read(id_)]) for id_ in source.ids())
    with torch.no_grad():
        counts = [
            count(predict(network(batch.images)), batch.labels, batch.valid, len(source.classes)) for batch in batches
        ]
    return torch.cat(counts).numpy()


def generated() -> dict[str, list[np.ndarray]]:
    good, bad = (generated_counts(2000, right=right, seed=number) for number, right in enumerate((0.9, 0.2)))
    return {"good": [good], "bad": [bad], "apart": [good, bad]}


@pytest.mark.parametrize("which", generated())
def test_a_few_hundred_samples_of_generated_counts(which: str) -> None:
    """The same draws each time, so little room is needed below the level."""
    for metric in (accuracy, nmiou):
        assert coverage(generated()[which], metric, IMAGES, simulations=300) >= LEAST - 0.02


def test_quantiles_of_resampled_images_are_too_narrow() -> None:
    """What was done before fails the same test, so the test can fail."""

    def percentile(counts: np.ndarray, metric) -> Interval:  # type: ignore[no-untyped-def]
        picks = np.random.default_rng(0).multinomial(IMAGES, np.full(IMAGES, 1 / IMAGES), size=400)
        return Interval(np.nan, *np.quantile(metric(counts, weights=picks.astype(float)), [0.025, 0.975]))

    assert coverage(generated()["good"], accuracy, IMAGES, simulations=300, measure=percentile) < LEAST - 0.02


@pytest.mark.slow
def test_two_thousand_samples_of_real_and_generated_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """Accuracy and NmIoU hold at least 94 %, alone and as paired differences; CmIoU is printed."""
    normal, robust = (on_shapes(f"compact:{model}", 400) for model in ("cnn-normal", "cnn-pgd-at-100"))
    populations = {"normal": [normal], "robust": [robust], "normal - robust": [normal, robust], **generated()}
    for name, sides in populations.items():
        held = {metric.__name__: coverage(sides, metric, IMAGES) for metric in (accuracy, nmiou, cmiou)}  # type: ignore[attr-defined]
        with capsys.disabled():
            print(name, held)
        assert min(held["accuracy"], held["nmiou"]) >= LEAST, (name, held)
