"""Joined shards hold what the small ones held, and a stop at any moment loses nothing and doubles nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from segstress.evaluation.rows import row_of
from segstress.results.seal import content
from segstress.runtime import Cell, Shard, Store, compaction
from segstress.runtime.compaction import compact
from segstress.runtime.shard_files import write_manifest

CELL = Cell(
    names={"model": "toy", "data": "scenes", "perturbation": "pgd"},
    model={},
    data={},
    perturbation={"kind": "attack"},
    seed=0,
    fingerprints={"model": "m", "data": "d"},
    dataset_info={"classes": ["sky", "sea"]},
)
COUNT = {"goal": "", "state": "perturbed", "zone": "all", "class": 1, "hits": 2, "predicted": 3, "actual": 4}
IMAGES = [f"image {number}" for number in range(6)]


def answer(*images: str, status: str = "ok") -> Shard:
    fine = images if status == "ok" else ()
    return Shard(
        images=[row_of(image, 0) | {"status": status, "batch": images[0]} for image in images],
        counts=[{"image": image, **COUNT} for image in fine],
        kept={f"any|{image}": np.full((3, 2, 2), len(image), np.float32) for image in fine[:1]},
        maps={f"any|{image}": np.zeros((2, 2), np.uint8) for image in fine[:1]},
    )


def held(store: Store) -> str:
    return content(SimpleNamespace(store=store), CELL)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Six images in six shards, and an error that was answered later; finished, with a manifest."""
    store = Store(tmp_path / "small")
    store.begin(CELL)
    for image in IMAGES:
        store.add(CELL, answer(image))
    store.add(CELL, answer(IMAGES[0], "image 7", status="error"))
    write_manifest(store.cell_folder(CELL), held(store), store.stems(CELL))
    return store.folder


class Killed(BaseException):
    """What no code catches."""


@contextmanager
def stopped_before(step: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Stop before a file is renamed to its place, or removed, for the so-manieth time."""
    steps = [0]

    def counting(act):
        def counted(*arguments, **others):
            if steps[0] == step:
                raise Killed
            steps[0] += 1
            return act(*arguments, **others)

        return counted

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", counting(os.replace))
        patched.setattr(os, "unlink", counting(os.unlink))
        with suppress(Killed):
            yield steps


def test_a_joined_cell_holds_the_same_in_few_files(small: Path) -> None:
    before = Store(small)
    tables = {
        name: before.table(CELL, name).drop_columns(["batch"] * (name == "images")) for name in ("images", "counts")
    }
    seal, batches = held(before), sorted(batch for _, batch in before.together(CELL))
    assert compact(Store(small), CELL)
    after = Store(small)
    assert held(after) == seal
    assert len(after.stems(CELL)) == 1
    assert after.damage(CELL) == {}
    assert len(list(after.cell_folder(CELL).iterdir())) <= 20
    for name, table in tables.items():
        assert after.table(CELL, name).drop_columns(["batch"] * (name == "images")).equals(table)
    again = sorted(batch for _, batch in after.together(CELL))
    assert again == sorted(batch if len(batch) == 1 else ["image 7"] for batch in batches)  # the answered error is gone
    assert after.missing(CELL, [*IMAGES, "image 7"], retry_errors=True) == ["image 7"]


def test_few_files_are_left_as_they_are(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.begin(CELL)
    for image in IMAGES[:3]:
        store.add(CELL, answer(image))
    before = sorted(tmp_path.rglob("*"))
    assert not compact(store, CELL)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_stop_at_any_moment_loses_nothing_and_doubles_nothing(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "SHARE", 3)  # three joined shards
    seal, whole, step = held(Store(small)), False, 0
    while not whole:
        folder = shutil.copytree(small, tmp_path / f"stopped-{step}")
        with stopped_before(step, monkeypatch):
            compact(Store(folder), CELL)
            whole = True
        store = Store(folder)
        assert store.damage(CELL) == {}, step
        assert held(store) == seal, step
        assert store.missing(CELL, [*IMAGES, "image 7"]) == []
        compact(store, CELL)
        assert Store(folder).damage(CELL) == {}, step
        assert held(Store(folder)) == seal, step
        assert len(list(store.cell_folder(CELL).glob("[!.]*"))) <= 20
        shutil.rmtree(folder)
        step += 1
    assert step > 30  # files written, removed, and the manifest


def test_going_on_after_a_stop_removes_what_was_joined(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with stopped_before(8, monkeypatch):
        compact(Store(small), CELL)
    store = Store(small)
    files = len(list(store.cell_folder(CELL).iterdir()))
    assert store.set_aside(CELL) == []
    assert len(list(store.cell_folder(CELL).iterdir())) < files
    assert not (store.cell_folder(CELL) / "set-aside").exists()


def test_a_later_answer_of_the_same_images_counts(small: Path) -> None:
    compact(Store(small), CELL)
    store = Store(small)
    (store.cell_folder(CELL) / "manifest.json").unlink()
    store.add(CELL, answer(IMAGES[0], "image 7", status="error"))  # a slow process writes what was joined since
    assert len(store.stems(CELL)) == 1
    store.drop_replaced(CELL)
    store.add(CELL, answer("image 7"))
    assert store.missing(CELL, ["image 7"], retry_errors=True) == []
    assert store.damage(CELL) == {}


def test_a_damaged_joined_shard_is_named_and_what_is_left_beside_it_counts(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stopped_before(6, monkeypatch):  # after its checksums, before anything is removed
        compact(Store(small), CELL)
    store = Store(small)
    (joined,) = store.stems(CELL)
    path = store.cell_folder(CELL) / f"counts-{joined}.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    store = Store(small)
    assert list(store.damage(CELL).values()) == [f"{path.name} changed since it was written"]
    assert store.missing(CELL, IMAGES) == []


def test_a_damaged_cell_is_left_alone(small: Path) -> None:
    store = Store(small)
    next(store.cell_folder(CELL).glob("counts-*")).unlink()
    before = sorted(store.cell_folder(CELL).iterdir())
    assert not compact(store, CELL)
    assert sorted(store.cell_folder(CELL).iterdir()) == before


@pytest.mark.parametrize(("images", "most"), [(1_000, 20), (100_000, 100)])
def test_files_of_large_cells_stay_few(images: int, most: int, tmp_path: Path) -> None:
    stems = [f"{number:06}" for number in range(images // 4)]
    found = {stem: [tmp_path] for stem in stems}
    groups = list(compaction._groups(stems, dict.fromkeys(stems, 4), found))
    assert [stem for group in groups for stem in group] == stems
    assert 7 * len(groups) + 2 <= most
