"""The store gives back what was put in, from any folder, and names files that another version wrote."""

import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.forging import as_earlier

from segstress.core import BadInput
from segstress.evaluation.rows import row_of
from segstress.runtime import Cell, Shard, Store, shard_tables

CELL = Cell(
    names={"model": "toy", "data": "scenes", "perturbation": "pgd"},
    model={},
    data={},
    perturbation={"kind": "attack"},
    seed=0,
    fingerprints={"model": "m", "data": "d"},
    dataset_info={"classes": ["sky", "sea"]},
)
OBJECT = {"goal": "any", "object": 1, "class": 0, "area": 9, "clean": 8, "correct": 5, "kept": 4}


def answers(*images: str) -> Shard:
    """A picture, two maps and one object for each image."""
    return Shard(
        images=[row_of(image, 0) | {"status": "ok"} for image in images],
        objects=[{"image": image, **OBJECT} for image in images],
        kept={f"any|{image}": np.full((3, 2, 2), ord(image), np.float32) for image in images},
        maps={f"{name}|{image}": np.zeros((2, 2), np.uint8) for image in images for name in ("truth", "any")},
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Four images in two shards."""
    store = Store(tmp_path)
    store.begin(CELL)
    for shard in (answers("d", "b"), answers("a", "c")):
        store.add(CELL, shard)
    return store


def test_a_folder_may_be_named_like_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store(Path("runs:today"))
    store.begin(CELL)
    store.add(CELL, answers("a"))
    assert store.table(CELL, "objects").to_pylist() == [{"image": "a", **OBJECT}]


def test_arrays_of_some_images_only(store):
    assert store.kept(CELL) == ["a", "b", "c", "d"]
    some = store.arrays(CELL, "kept", ["b", "c"])
    assert {key: image.max() for key, image in some.items()} == {"any|b": ord("b"), "any|c": ord("c")}
    assert len(store.arrays(CELL, "maps")) == 8
    assert [len(batch) for batch in store.batches(CELL, "kept")] == [2, 2]
    assert [set(batch) for batch in store.batches(CELL, "kept", {"b"})] == [{"any|d", "any|b"}], "one shard is read"


def test_a_column_that_an_older_version_did_not_write(store):
    store = as_earlier(store.folder)
    (path, _) = sorted(store.folder.glob("cells/*/objects-*.parquet"))
    pq.write_table(pq.read_table(path).drop_columns(["kept"]), path)
    with pytest.raises(BadInput, match="another version of segstress: expected a column 'kept'"):
        store.table(CELL, "objects").to_pylist()


def test_a_column_that_came_later_is_empty_in_older_folders(store):
    store = as_earlier(store.folder)
    for path in store.folder.glob("cells/*/images-*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(["correct"]), path)
    assert {row["correct"] for row in store.table(CELL, "images").to_pylist()} == {None}


def test_a_file_that_is_no_table(store):
    store = as_earlier(store.folder)
    (path, _) = sorted(store.folder.glob("cells/*/images-*.parquet"))
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(BadInput, match="delete its shard and run the same command again"):
        store.table(CELL, "images").to_pylist()


def test_some_columns_only(store):
    table = store.table(CELL, "images", ("image", "goal", "status"))
    assert table.to_pydict() == {"image": list("abcd"), "goal": [""] * 4, "status": ["ok"] * 4}


def test_missing_images_keep_the_order_in_which_they_were_asked(store):
    assert store.missing(CELL, iter("zaybx")) == ["z", "y", "x"]


def test_a_shard_that_answers_again_is_named_with_the_one_before_it(store):
    """The one whose name comes later does not count; an error that was answered is no second answer."""
    store.add(CELL, answers("a", "e"))
    failed = answers("b", "f")
    failed.images[0] |= {"status": "error"}
    store.add(CELL, failed)
    pattern = re.compile(r"images-\w+.parquet is doubled: images-\w+.parquet answers 'a' too")
    assert [bool(pattern.fullmatch(fault)) for fault in store.damage(CELL).values()] == [True]
    assert len(store.stems(CELL)) == 3


def test_a_shard_that_is_made_whole_under_its_names_counts_at_the_next_look(store):
    path = next(store.folder.glob("cells/*/images-*.parquet"))
    whole, other = path.read_bytes(), Store(store.folder)
    path.write_bytes(whole[:-1])
    assert len(other.stems(CELL)) == 1
    path.write_bytes(whole)
    assert len(other.stems(CELL)) == 2


def test_chunks_are_cut_once_they_have_enough_rows(store, monkeypatch):
    store.add(CELL, answers("e"))
    monkeypatch.setattr(shard_tables, "CHUNK", 3)
    folder = store.cell_folder(CELL)
    chunks = shard_tables.shard_chunks(folder, "images", sorted(store.stems(CELL)))
    assert [len(table) for table in chunks] in ([4, 1], [3, 2])
