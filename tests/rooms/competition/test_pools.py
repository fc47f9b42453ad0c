"""Pools in tar shards and Parquet lists read the same images as a folder."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

import segstress.competition  # noqa: F401 - registers the pools
from segstress.core import BadImage, BadInput
from segstress.data import datasets, image_list, load


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(5):
        pixels = np.random.default_rng(number).integers(256, size=(6, 8, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    (folder / "4.png").write_bytes(b"broken")
    return folder


def shards(photos: Path, folder: Path) -> Path:
    folder.mkdir()
    for shard, numbers in (("a", (0, 1, 2)), ("b", (3, 4))):
        with tarfile.open(folder / f"{shard}.tar", "w") as archive:
            for number in numbers:
                archive.add(photos / f"{number}.png", f"{number}.png")
            words = tarfile.TarInfo(f"{numbers[0]}.json")
            archive.addfile(words, io.BytesIO(b""))
    return folder


def test_tar_shards_give_the_images_of_the_folder(photos: Path, tmp_path: Path) -> None:
    pool = load(f"tar:{shards(photos, tmp_path / 'shards')}")
    plain = load(f"folder:{photos}?images=.&masks=none")
    assert pool.ids() == ["a/0.png", "a/1.png", "a/2.png", "b/3.png", "b/4.png"]
    for id in pool.ids()[:4]:
        found, expected = pool.read(id), plain.read(id[2:-4])
        assert torch.equal(found.image, expected.image)
        assert found.source == expected.source
        assert not found.valid.any()
    with pytest.raises(BadImage, match=r"4\.png"):
        pool.read("b/4.png")
    with pytest.raises(BadImage, match="no image"):
        pool.read("c/9.png")


def test_a_list_gives_the_images_it_names(photos: Path) -> None:
    path = photos.parent / "list.parquet"
    pq.write_table(pa.table({"path": ["photos/0.png", "photos/1.png", "photos/0.png", "photos/none.png"]}), path)
    pool = load(f"list:{path}")
    assert pool.ids() == ["photos/0.png", "photos/1.png", "photos/none.png"]
    assert pool.read("photos/1.png").image.shape == (3, 6, 8)
    with pytest.raises(BadImage, match="cannot be read"):
        pool.read("photos/none.png")


def test_a_folder_of_lists_is_read_a_row_group_at_a_time(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, numbers in (("a", (0, 1, 2)), ("b", (3, 0))):
        table = pa.table({"path": [f"{number}.png" for number in numbers]})
        pq.write_table(table, photos / f"{name}.parquet", row_group_size=2)
    pool, read, paths = load(f"list:{photos}"), list[int](), image_list._paths
    monkeypatch.setattr(image_list, "_paths", lambda path, *given: read.append(1) or paths(path, *given))
    parts = list(pool.outline())
    assert [part.images for part in parts] == [2, 1, 2]
    assert read == []
    assert [pool.stretch(part.name) for part in parts] == [("0.png", "1.png"), ("2.png",), ("3.png", "0.png")]
    assert pool.ids() == ["0.png", "1.png", "2.png", "3.png"]
    assert pool.read("3.png").image.shape == (3, 6, 8)


def test_fingerprints_follow_the_content(photos: Path, tmp_path: Path) -> None:
    folder = shards(photos, tmp_path / "shards")
    before = load(f"tar:{folder}").fingerprint()
    assert load(f"tar:{folder}").fingerprint() == before
    (folder / "b.tar").unlink()
    assert load(f"tar:{folder}").fingerprint() != before


def test_what_is_no_pool_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(b"no archive at all")
    with pytest.raises(BadInput, match="no readable tar"):
        load(f"tar:{tmp_path}")
    (tmp_path / "x.tar").unlink()
    with pytest.raises(BadInput, match=r"no \.tar"):
        load(f"tar:{tmp_path}")
    (tmp_path / "x.parquet").write_bytes(b"")
    with pytest.raises(BadInput, match="column 'path'"):
        load(f"list:{tmp_path / 'x.parquet'}")


def test_specs_survive(photos: Path, tmp_path: Path) -> None:
    pool = load(f"tar:{shards(photos, tmp_path / 'shards')}?resize=4x4")
    assert datasets.build(datasets.spec(pool)) == pool
