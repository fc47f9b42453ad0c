"""What holds for every registered metric, and how one is added."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import segstress.metrics as room
from segstress.core import BadInput, import_all
from segstress.metrics import count, definition, metrics

CLASSES = 4


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    """Counts of one to five tiny images, some of them without a counted pixel."""
    shape = (draw(st.integers(1, 5)), 2, 3)
    label = arrays("int64", shape, elements=st.integers(0, CLASSES - 1))
    prediction, labels, zone = (torch.from_numpy(draw(each)) for each in (label, label, arrays("bool", shape)))
    return count(prediction, labels, zone, CLASSES).numpy()


@pytest.mark.parametrize("name", metrics.names())
def test_the_docstring_gives_title_and_meaning(name: str) -> None:
    """`segstress list metrics` and every definition are read from it."""
    title, colon, meaning = metrics.about(name).partition(": ")
    assert title
    assert colon
    assert meaning.endswith(".")


@pytest.mark.parametrize("name", metrics.names())
@settings(max_examples=30)
@given(tables(), st.randoms(use_true_random=False))
def test_a_share_whatever_the_order_and_the_kind_of_array(name: str, counts: np.ndarray, chance) -> None:
    """In [0, 1] or NaN; the same for shuffled images and for torch."""
    metric = metrics.get(name)
    value = metric(counts)
    assert isinstance(value, float)
    assert np.isnan(value) == (counts[..., 2].sum() == 0)
    assert np.isnan(value) or 0 <= value <= 1
    order = chance.sample(range(len(counts)), len(counts))
    np.testing.assert_allclose(metric(counts[order]), value, rtol=1e-12)
    np.testing.assert_allclose(metric(torch.from_numpy(counts)), value, rtol=1e-12)


@pytest.mark.parametrize("name", metrics.names())
@settings(max_examples=30)
@given(tables(), st.data())
def test_weights_stand_for_repeated_images(name: str, counts: np.ndarray, data: st.DataObject) -> None:
    """The vectorised draws of a bootstrap equal drawing by hand."""
    metric = metrics.get(name)
    place = st.integers(0, len(counts) - 1)
    draws = data.draw(st.lists(st.lists(place, min_size=1, max_size=6), min_size=1, max_size=3))
    weights = np.array([np.bincount(drawn, minlength=len(counts)) for drawn in draws], dtype=float)
    by_hand = [metric(counts[drawn]) for drawn in draws]
    np.testing.assert_allclose(metric(counts, weights=weights), by_hand, rtol=1e-12)


BEST = {
    "nmiou_zero": (2 / 3 + 1 / 2) / 2
}  # an image of two classes and one of one, and a class more that is never right


def test_a_perfect_prediction_scores_one_and_an_all_wrong_one_zero() -> None:
    """The ends of the scale, for every metric."""
    labels = torch.tensor([[[0, 1]], [[2, 2]]])
    everywhere = torch.ones_like(labels, dtype=torch.bool)
    right = count(labels, labels, everywhere, 3)
    wrong = count((labels + 1) % 3, labels, everywhere, 3)
    for name in metrics.names():
        assert metrics.get(name)(right) == pytest.approx(BEST.get(name, 1)), name
        assert metrics.get(name)(wrong) == 0, name


def test_a_definition_names_the_rules_that_matter() -> None:
    """The rule for absent classes only where a mean over classes obeys it."""
    assert definition("nmiou", void=255) == "NmIoU[absent=present, void=255, background=in]"
    assert definition("cmiou", absent="fixed", background="out") == "CmIoU[absent=fixed, void=none, background=out]"
    assert definition("accuracy", absent="fixed", void=255) == "Accuracy[void=255, background=in]"


def test_an_unknown_metric_is_refused_with_a_suggestion() -> None:
    """Before any counting."""
    with pytest.raises(BadInput, match="unknown metric 'nmiuo'; did you mean 'nmiou'"):
        definition("nmiuo")


DICE = '''
"""Dice, as a user would add it."""

from segstress.metrics import metrics, over_images
from segstress.metrics.scores import columns


@metrics.register("dice")
@over_images
def dice(counts):
    """Dice: twice the hits over predicted plus actual pixels, mean over classes and images."""
    hits, predicted, actual = columns(counts)
    return (2 * hits / (predicted + actual)).mean(-1)
'''


def test_a_metric_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the room's folder is found, named and defined without another edit."""
    (tmp_path / "dice.py").write_text(DICE)
    monkeypatch.setattr(metrics, "_entries", dict(metrics._entries))
    monkeypatch.setattr(room, "__path__", [*room.__path__, str(tmp_path)])
    import_all(room.__name__, room.__path__)
    monkeypatch.delitem(sys.modules, "segstress.metrics.dice")
    monkeypatch.delattr(room, "dice")
    counts = np.array([[[1, 2, 2], [1, 1, 1]], [[3, 3, 3], [3, 3, 3]]])
    assert metrics.get("dice")(counts) == pytest.approx((0.75 + 1) / 2)  # (2/4 + 2/2) / 2 and 1
    assert definition("dice", void=0) == "Dice[void=0, background=in]"
