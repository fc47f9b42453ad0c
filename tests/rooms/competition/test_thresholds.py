"""Bounds on the size of a class: from a table, from masks, from the pool."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image

from segstress.competition.thresholds import PoolShares, any_size, from_masks, from_table
from segstress.competition.vocabulary import Vocabulary
from segstress.contests.select import fixed_bounds
from segstress.core import BadInput
from segstress.data.voc import NAMES


def test_table_names_classes() -> None:
    bounds = from_table({"cat": (0.1, 0.4)}, ["background", "cat"], models=2)
    assert bounds.low.tolist() == [[0, 0.1]] * 2
    assert bounds.high.tolist() == [[1, 0.4]] * 2


@pytest.mark.parametrize("table", [{"dog": (0, 1)}, {"cat": (0.5, 0.4)}, {"cat": (0.5,)}])
def test_bad_table_is_refused(table: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(BadInput, match="scale table"):
        from_table(table, ["background", "cat"], models=2)


def test_masks_give_quartiles_without_void() -> None:
    masks = [np.array([[1] * ones + [0] * (8 - ones) + [255, 255]], dtype=np.uint8) for ones in (1, 2, 3, 4, 5)]
    bounds = from_masks(masks, classes=3, models=1)
    assert (bounds.low[0, 1], bounds.high[0, 1]) == (2 / 8, 4 / 8)
    assert (bounds.low[0, 2], bounds.high[0, 2]) == (0, 1)


def test_void_of_training_masks_is_neither_a_class_nor_part_of_the_size(tmp_path: Path) -> None:
    for folder, picture in (("images", np.zeros((1, 8, 3))), ("masks", np.array([[0, 1, 1, 1, 255, 255, 255, 255]]))):
        (tmp_path / folder).mkdir()
        Image.fromarray(picture.astype(np.uint8)).save(tmp_path / folder / "one.png")
    (tmp_path / "classes.txt").write_text("sky\nsea\n")
    contest: Any = SimpleNamespace(scale=f"folder:{tmp_path}?classes=classes.txt&ignore=255")
    bounds = fixed_bounds(contest, 1, Vocabulary(("sky", "sea")))
    assert bounds.low.tolist() == bounds.high.tolist() == [[1 / 4, 3 / 4]]


def test_pool_quartiles_are_near_the_exact_ones_in_any_order() -> None:
    shares = np.random.default_rng(0).random((400, 2, 3)).astype(np.float32)
    shares[::3, 0, 1] = 0
    shares[5, 1] = np.nan
    shares[:, :, 2] = 0
    one, many = PoolShares(2, 3), PoolShares(2, 3)
    one.add(shares)
    for part in np.array_split(shares, 7)[::-1]:
        many.add(part)
    bounds = one.bounds()
    np.testing.assert_array_equal(bounds.low, many.bounds().low)
    for model in range(2):
        for class_ in range(2):
            seen = shares[:, model, class_]
            exact = np.percentile(seen[np.nan_to_num(seen) > 0], (25, 75), method="inverted_cdf")
            np.testing.assert_allclose((bounds.low[model, class_], bounds.high[model, class_]), exact, atol=2e-4)
    assert (bounds.low[0, 2], bounds.high[0, 2]) == (0, 1)


def test_any_size_bounds_nothing() -> None:
    assert (any_size(2, 3).low == 0).all()
    assert (any_size(2, 3).high == 1).all()


def test_the_table_of_pascal_voc_fits_its_classes() -> None:
    table = yaml.safe_load(files("segstress").joinpath("plans", "mad", "voc-scale.yaml").read_text())
    bounds = from_table(table, NAMES, models=1)
    assert set(NAMES) - set(table) == {"background"}
    assert (bounds.low[0, 1:] > 0).all()
