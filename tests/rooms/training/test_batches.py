"""Batches: every image once an epoch, the same pixels whatever came before."""

from __future__ import annotations

import pytest
from tests.conftest import write_folder

from segstress.core import BadInput
from segstress.data import load
from segstress.training import Augmentation
from segstress.training.batches import Reader


def make_reader(seed: int = 0, kept: int = 0, crop: int | None = 12) -> Reader:
    return Reader(load("shapes:train?count=11&size=16"), Augmentation(crop=crop), seed, kept)


def ids(reader: Reader, epoch: int, **cut: int) -> list[tuple[str, ...]]:
    return [batch.ids for parts in reader.steps(epoch, 4, **{"parts": 1, **cut}) for batch in parts]


def test_an_epoch_shows_every_image_once_but_the_rest():
    shown = [id_ for batch in ids(make_reader(), 0) for id_ in batch]
    assert len(shown) == len(set(shown)) == 8


def test_order_follows_seed_and_epoch():
    orders = [ids(make_reader(seed), epoch) for seed, epoch in ((0, 0), (0, 1), (1, 0))]
    assert len({str(order) for order in orders}) == 3
    assert ids(make_reader(), 1) == orders[1]


def test_skipping_and_cutting_change_nothing_else():
    whole = ids(make_reader(), 3)
    assert ids(make_reader(), 3, skip=1) == whole[1:]
    halves = ids(make_reader(), 3, parts=2)
    assert [first + second for first, second in zip(halves[::2], halves[1::2], strict=True)] == whole


def test_pixels_follow_from_image_and_epoch_alone():
    def pixels(reader: Reader, epoch: int, **cut: int) -> dict:
        batches = [batch for parts in reader.steps(epoch, 4, **{"parts": 1, **cut}) for batch in parts]
        return {id_: image for batch in batches for id_, image in zip(batch.ids, batch.images, strict=True)}

    plain, kept = pixels(make_reader(), 2), make_reader(kept=3)
    pixels(kept, 0)
    again = pixels(kept, 2, parts=4)
    assert all(again[id_].equal(image) for id_, image in plain.items())
    other = pixels(make_reader(), 1)
    assert any(not other[id_].equal(image) for id_, image in plain.items() if id_ in other)


def test_keeps_no_more_than_it_may():
    reader = make_reader(kept=3)
    samples = [reader.read(id_) for id_ in reader.ids]
    assert [reader.read(id_) is sample for id_, sample in zip(reader.ids, samples, strict=True)] == [True] * 3 + [
        False
    ] * 8


def test_sizes_that_differ_need_a_crop(folder_of_two_sizes):
    reader = Reader(load(folder_of_two_sizes), Augmentation(), 0)
    with pytest.raises(BadInput, match=r"images of one batch differ in size, .* set a crop or a resize rule"):
        list(reader.steps(0, 2, parts=1))
    cropped = Reader(load(folder_of_two_sizes), Augmentation(crop=18), 0)
    ((batch,),) = cropped.steps(0, 2, parts=1)
    assert batch.images.shape == (2, 3, 18, 18)
    assert not batch.valid.all()


@pytest.fixture
def folder_of_two_sizes(tmp_path):
    return f"folder:{write_folder(tmp_path / 'photos', [(16, 20), (24, 18)])}?classes=7&ignore=255"
