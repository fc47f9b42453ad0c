"""Counting pixels and predicting classes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor
from toy_set import Toy

from segstress.metrics import count, predict
from segstress.metrics.counts import few

SIDE = st.integers(1, 4)
CLASSES = 4


@st.composite
def scenes(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor]:
    """Prediction, labels and zone of a small batch."""
    shape = draw(st.tuples(st.integers(1, 3), SIDE, SIDE))
    label = arrays("int64", shape, elements=st.integers(0, CLASSES - 1))
    return tuple(torch.from_numpy(draw(each)) for each in (label, label, arrays("bool", shape)))


def test_toy_counts_are_those_made_by_hand(toy: Toy) -> None:
    """Columns are hits, predicted, actual; what is said on void pixels is nowhere."""
    expected = [
        [[3, 4, 4], [2, 3, 3], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[5, 5, 6], [0, 0, 0], [2, 2, 2], [0, 1, 0], [0, 0, 0]],
        [[0, 1, 0], [1, 1, 2], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[0, 0, 0]] * 5,
    ]
    assert toy.count().tolist() == expected


def test_a_label_beyond_the_classes_has_no_truth() -> None:
    """So unlabelled images keep what was predicted."""
    prediction = torch.tensor([[[0, 1, 1]]])
    counts = count(prediction, torch.full_like(prediction, 2), torch.ones_like(prediction, dtype=torch.bool), 2)
    assert counts.tolist() == [[[0, 1, 0], [0, 2, 0]]]


@given(scenes(), st.data())
def test_counts_add_up_over_zones(scene: tuple[Tensor, Tensor, Tensor], data: st.DataObject) -> None:
    """A zone counts as much as its two parts."""
    prediction, labels, zone = scene
    part = zone & torch.from_numpy(data.draw(arrays("bool", tuple(zone.shape))))
    parts = count(prediction, labels, part, CLASSES) + count(prediction, labels, zone & ~part, CLASSES)
    assert torch.equal(count(prediction, labels, zone, CLASSES), parts)


@given(scenes(), st.integers(0, CLASSES - 1), st.integers(0, CLASSES - 1))
def test_what_lies_outside_the_zone_changes_nothing(scene: tuple[Tensor, Tensor, Tensor], said: int, true: int) -> None:
    """Relabelling void pixels, in truth or prediction, leaves every count."""
    prediction, labels, zone = scene
    other = count(torch.where(zone, prediction, said), torch.where(zone, labels, true), zone, CLASSES)
    assert torch.equal(count(prediction, labels, zone, CLASSES), other)


@given(scenes())
def test_a_batch_counts_like_a_plain_loop(scene: tuple[Tensor, Tensor, Tensor]) -> None:
    """Each image and class by itself, by the definition."""
    prediction, labels, zone = scene
    for image, table in enumerate(count(prediction, labels, zone, CLASSES)):
        for class_, (hits, predicted, actual) in enumerate(table.tolist()):
            said, true = prediction[image] == class_, labels[image] == class_
            inside = zone[image]
            assert hits == (said & true & inside).sum()
            assert predicted == (said & inside).sum()
            assert actual == (true & inside).sum()


@given(
    st.tuples(st.integers(1, 2), st.integers(1, 6), SIDE, SIDE),
    st.sampled_from(["float32", "float64"]),
    st.data(),
)
def test_predict_equals_argmax_also_on_ties(shape: tuple[int, ...], dtype: str, data: st.DataObject) -> None:
    """Few distinct values make ties common; of equal logits the lowest class wins."""
    value = st.sampled_from([-1e30, -1.0, 0.0, 0.5, 1.0, 1e30])
    logits = torch.from_numpy(data.draw(arrays(dtype, shape, elements=value)))
    assert torch.equal(predict(logits), logits.argmax(1))


@pytest.mark.parametrize("classes", [2, 151, 300])
def test_predict_takes_many_classes_and_leaves_the_logits_alone(classes: int) -> None:
    """Also those of a graph that still wants its gradient."""
    logits = torch.randn(1, classes, 9, 7, generator=torch.Generator().manual_seed(classes), requires_grad=True)
    before = logits.detach().clone()
    prediction = predict(logits)
    assert torch.equal(prediction, before.argmax(1))
    assert torch.equal(logits, before)
    assert not prediction.requires_grad


@given(st.integers(1, 10**8), st.sampled_from([0.0, 0.0005, 0.001, 0.3, 0.999]))
def test_few_pixels_are_told_from_many_to_the_last_one(valid: int, share: float) -> None:
    most = valid * round(share * 10_000) // 10_000  # by hand, in ten-thousandths
    assert few(most, valid, share)
    assert not few(most + 1, valid, share)
