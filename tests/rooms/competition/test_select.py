"""Selection: the same from any cut into shards, ties by id, bounds inclusive, rejected images replaced."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segstress.competition.select import ANY_CLASS, Candidates, Member, Rule, choose
from segstress.competition.thresholds import Bounds, any_size

MODELS, CLASSES = 3, 4


def pool(seed: int, images: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    ids = np.array([f"{number:016x}".encode() for number in random.permutation(images)], dtype="S16")
    shares = (random.random((images, MODELS, CLASSES)) * (random.random((images, MODELS, CLASSES)) < 0.5)).astype(
        np.float32
    )
    scores = (random.integers(8, size=(images, MODELS, MODELS)) / 8).astype(np.float32)  # many ties
    return ids, shares, scores


def select(
    parts: list[tuple[np.ndarray, ...]], rule: Rule, bounds: Bounds | None = None, background: int | None = 0
) -> Candidates:
    found = Candidates(MODELS, CLASSES, rule, background)
    for images, shares, scores in parts:
        found.add(images, shares, scores, bounds or any_size(MODELS, CLASSES))
    return found


def cut(arrays: tuple[np.ndarray, ...], shards: int) -> list[tuple[np.ndarray, ...]]:
    return list(zip(*(np.array_split(array, shards) for array in arrays), strict=True))


@given(st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_shards_in_any_order_select_the_same(seed: int, random: object) -> None:
    arrays, rule = pool(seed), Rule(fetched=5)
    whole = select([arrays], rule)
    shards = cut(arrays, 7)
    random.shuffle(shards)  # type: ignore[attr-defined]
    parts = select(shards, rule)
    for name in ("scores", "images", "shares"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_equals_a_plain_sort(seed: int) -> None:
    ids, shares, scores = pool(seed)
    found = select([(ids, shares, scores)], Rule(fetched=4))
    for defender, attacker, class_ in found.groups():
        group = [place for place in range(len(ids)) if shares[place, defender, class_] > 0]
        group = [place for place in group if scores[place, defender, attacker] < 1]
        best = sorted(group, key=lambda place: (scores[place, defender, attacker], ids[place]))[:4]
        chosen = [member.image for member in found.subset(defender, attacker, class_)]
        assert chosen == [ids[place].decode() for place in best]


def test_bounds_are_inclusive_and_the_defenders() -> None:
    ids = np.array([b"a", b"b", b"c"], dtype="S16")
    shares = np.zeros((3, MODELS, CLASSES), dtype=np.float32)
    shares[:, 0, 1] = [0.25, 0.5, 0.75]
    shares[0, 1, 2] = 0.5  # a class that only the attacker shows
    bounds = Bounds(np.full((MODELS, CLASSES), 0.25), np.full((MODELS, CLASSES), 0.5))
    found = select([(ids, shares, np.zeros((3, MODELS, MODELS), dtype=np.float32))], Rule(), bounds)
    assert [member.image for member in found.subset(0, 1, 1)] == ["a", "b"]
    assert found.subset(0, 1, 2) == []
    assert [member.image for member in found.subset(1, 0, 2)] == ["a"]


def test_images_without_an_answer_or_without_discrepancy_are_no_candidates() -> None:
    ids, shares, scores = pool(0)
    shares[:, 0, 1] = 0.5
    scores[:, 0, 1] = 1
    scores[0, 0, 2] = np.nan
    found = select([(ids, shares, scores)], Rule(fetched=60))
    assert found.subset(0, 1, 1) == []
    assert ids[0].decode() not in [member.image for member in found.subset(0, 2, 1)]


def test_background_forms_no_group() -> None:
    found = select([pool(1)], Rule())
    assert all(class_ != 0 for _, _, class_ in found.groups())
    assert select([pool(1)], Rule(), background=None).subset(0, 1, 0)


def test_scores_of_classes_are_read_by_group() -> None:
    ids, shares, _ = pool(2)
    scores = np.random.default_rng(3).random((len(ids), MODELS, MODELS, CLASSES)).astype(np.float32)
    found = select([(ids, shares, scores)], Rule(fetched=1))
    group = np.flatnonzero(shares[:, 0, 2] > 0)
    best = group[scores[group, 0, 1, 2].argmin()]
    assert found.subset(0, 1, 2)[0].image == ids[best].decode()


def hashes_of(found: Candidates, near: int = 0) -> dict[str, int]:
    return {image.decode(): (number * 7919 + 1) % 2**64 * near for number, image in enumerate(np.unique(found.images))}


def test_rejected_images_are_replaced_by_the_next() -> None:
    found = select([pool(4)], Rule(chosen=1, fetched=5, near=-1))
    first, second, third = found.subset(0, 1, 1)[:3]
    hashes = hashes_of(found)

    def chosen(rejected: set[tuple[str, int]]) -> Member:
        members, _ = choose(found, frozenset(rejected), hashes)
        return next(member for member in members if member[1:4] == (0, 1, 1))

    assert chosen(set()).image == first.image
    assert chosen({(first.image, 2)}).image == first.image
    assert chosen({(first.image, 1)}).image == second.image
    promoted = chosen({(first.image, 1), (second.image, ANY_CLASS)})
    assert (promoted.image, promoted.rank) == (third.image, 0)


def test_near_duplicates_of_a_subset_are_passed_over() -> None:
    found = select([pool(5)], Rule(chosen=2, fetched=5, near=3))
    first, second, third = found.subset(0, 1, 1)[:3]
    hashes = {
        image.decode(): place << 20 | 0xFFFFF * (place % 2) for place, image in enumerate(np.unique(found.images))
    }
    hashes |= {first.image: 0, second.image: 0b111, third.image: 0b1111 << 32}
    members, _ = choose(found, frozenset(), hashes)
    assert [m.image for m in members if m[1:4] == (0, 1, 1)] == [first.image, third.image]


def test_empty_groups_are_named() -> None:
    ids, shares, scores = pool(6)
    shares[:, 2] = 0
    found = select([(ids, shares, scores)], Rule())
    members, empty = choose(found, frozenset(), hashes_of(found))
    assert {group[0] for group in empty} == {2}
    assert len(members) + len(empty) == MODELS * (MODELS - 1) * (CLASSES - 1)


@pytest.mark.parametrize("wrong", [{"chosen": 0}, {"near": 65}, {"chosn": 1}])
def test_wrong_rules_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"chos|near"):
        Rule(**wrong)
