"""Agreement of two maps: three vectors per pair against the full confusion, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segstress.competition.discrepancy import concordances, label_type, pair_counts, void_of

seeds = st.integers(0, 2**32 - 1)
NAMES = ["miou", "fwiou", "mpa", "dice"]


def noise(seed: int, models: int = 3, classes: int = 5, sides: tuple[int, int] = (7, 9)) -> np.ndarray:
    return np.random.default_rng(seed).integers(classes, size=(models, *sides)).astype(np.uint8)


def agreement(name: str, maps: np.ndarray, classes: int) -> np.ndarray:
    return concordances.get(name)(pair_counts(maps, classes))


@given(seeds)
def test_counts_equal_the_full_confusion(seed: int) -> None:
    maps, classes = noise(seed), 5
    counts = pair_counts(maps, classes)
    for first in range(3):
        for second in range(3):
            if first != second:
                joint = maps[first].astype(int) * classes + maps[second]
                table = np.bincount(joint.ravel(), minlength=classes**2).reshape(classes, classes)
                expected = np.stack([table.diagonal(), table.sum(0), table.sum(1)], axis=1)
                np.testing.assert_array_equal(counts[first, second], expected)


@given(seeds, st.sampled_from(NAMES))
def test_agreement_is_a_share_and_whole_with_itself(seed: int, name: str) -> None:
    maps = noise(seed)
    values = agreement(name, np.stack([maps[0], maps[0], maps[1]]), 5)
    assert values[0, 1] == pytest.approx(1)
    assert 0 <= values[0, 2] <= 1


@given(seeds, st.sampled_from(["miou", "dice"]))
def test_miou_and_dice_are_symmetric(seed: int, name: str) -> None:
    values = agreement(name, noise(seed), 5)
    np.testing.assert_array_equal(values[~np.eye(3, dtype=bool)], values.T[~np.eye(3, dtype=bool)])


@given(seeds, st.permutations(range(5)), st.sampled_from(NAMES))
def test_renaming_classes_changes_nothing(seed: int, names: list[int], name: str) -> None:
    maps = noise(seed)
    renamed = np.array(names, dtype=np.uint8)[maps]
    np.testing.assert_allclose(agreement(name, renamed, 5), agreement(name, maps, 5), rtol=1e-12)


@given(seeds, st.sampled_from(NAMES))
def test_absent_classes_do_not_matter(seed: int, name: str) -> None:
    maps = noise(seed)
    np.testing.assert_allclose(agreement(name, maps, 151), agreement(name, maps, 5), rtol=1e-12)


@given(seeds)
def test_void_of_either_map_leaves_the_pixel_out(seed: int) -> None:
    maps = noise(seed, models=2)
    holes = np.random.default_rng(seed + 1).random(maps.shape) < 0.3
    holes[:, 0, 0] = False
    with_void = np.where(holes, np.uint8(255), maps)
    seen = ~holes.any(0)
    expected = pair_counts(maps[:, seen][:, None], 5)
    np.testing.assert_array_equal(pair_counts(with_void, 5), expected)


def test_known_values() -> None:
    maps = np.array([[[0, 0, 1, 1]], [[0, 0, 0, 1]]], dtype=np.uint8)  # IoU 2/3 and 1/2
    assert agreement("miou", maps, 2)[0, 1] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert agreement("fwiou", maps, 2)[0, 1] == pytest.approx((2 * 2 / 3 + 2 * 1 / 2) / 4)
    assert agreement("fwiou", maps, 2)[1, 0] == pytest.approx((3 * 2 / 3 + 1 * 1 / 2) / 4)
    assert agreement("mpa", maps, 2)[0, 1] == pytest.approx((1 + 1 / 2) / 2)
    assert agreement("dice", maps, 2)[0, 1] == pytest.approx((4 / 5 + 2 / 3) / 2)
    np.testing.assert_allclose(agreement("class_iou", maps, 3)[0, 1], [2 / 3, 1 / 2, np.nan])


def test_equation_seven_as_printed_calls_equal_maps_discordant() -> None:
    maps = np.array([[[0, 1]], [[0, 1]]], dtype=np.uint8)
    assert agreement("miou_paper", maps, 21)[0, 1] == pytest.approx(2 / 21)
    assert agreement("miou", maps, 21)[0, 1] == 1


@given(seeds)
def test_rows_give_the_same_as_all_at_once(seed: int) -> None:
    maps = noise(seed, models=4)
    whole, last = pair_counts(maps, 5), pair_counts(maps, 5, rows=[3])
    np.testing.assert_array_equal(last[3], whole[3])
    np.testing.assert_array_equal(last[:, 3], whole[:, 3])
    assert not last[:3, :3].any()


@pytest.mark.parametrize(("models", "classes"), [(23, 21), (9, 300)])
def test_many_models_need_more_than_one_packed_word(models: int, classes: int) -> None:
    maps = np.random.default_rng(0).integers(classes, size=(models, 6, 5)).astype(label_type(classes))
    maps[:, 0] = maps[0, 0]
    counts = pair_counts(maps, classes)
    for first, second in ((0, models - 1), (models - 2, models - 1), (3, 7)):
        np.testing.assert_array_equal(counts[first, second], pair_counts(maps[[first, second]], classes)[0, 1])


def test_more_than_255_classes_need_two_bytes() -> None:
    assert (label_type(255), label_type(256)) == (np.uint8, np.uint16)
    maps = np.array([[[299, 0]], [[299, 65535]]], dtype=label_type(300))
    assert void_of(maps) == 65535
    assert pair_counts(maps, 300)[0, 1].sum(0).tolist() == [1, 1, 1]
