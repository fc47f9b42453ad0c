"""A shard is listed once; its index is found again as long as the shard is the same."""

from __future__ import annotations

import io
import os
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from segstress.core import BadInput
from segstress.data import load, tar_index


def encoded(number: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full((2, 3, 3), number, dtype=np.uint8)).save(buffer, "png")
    return buffer.getvalue()


def shard(path: Path, members: dict[str, int], age: float = 60) -> Path:
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as archive:
        for name, number in members.items():
            data = encoded(number)
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    os.utime(path, (time.time() - age, time.time() - age))
    return path


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every shard that is walked through, member by member."""
    walked: list[Path] = []
    walk = tar_index._walk

    def noting(path: Path):
        walked.append(path)
        return walk(path)

    monkeypatch.setattr(tar_index, "_walk", noting)
    tar_index._listed.cache_clear()
    return walked


def forget() -> None:
    tar_index._listed.cache_clear()


def test_a_shard_is_walked_through_once_in_a_process(tmp_path: Path, walks: list[Path]) -> None:
    path = shard(tmp_path / "a.tar", {"1.png": 1, "0.png": 0}, age=0)
    for _ in range(3):
        load(f"tar:{tmp_path}").read("a/0.png")
    assert walks == [path]


def test_another_process_finds_the_index_beside_the_shard(tmp_path: Path, walks: list[Path]) -> None:
    path = shard(tmp_path / "a.tar", {"1.png": 1, "0.png": 0})
    before = load(f"tar:{tmp_path}")
    assert before.ids() == ["a/0.png", "a/1.png"]
    forget()
    again = load(f"tar:{tmp_path}")
    assert again.ids() == before.ids()
    assert again.fingerprint() == before.fingerprint()
    assert walks == [path]
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["a.tar", "a.tar.index"]


def test_a_changed_shard_is_listed_anew(tmp_path: Path, walks: list[Path]) -> None:
    path = shard(tmp_path / "a.tar", {"0.png": 0}, age=60)
    load(f"tar:{tmp_path}")
    shard(path, {"0.png": 0, "1.png": 1}, age=30)
    assert load(f"tar:{tmp_path}").ids() == ["a/0.png", "a/1.png"]
    forget()
    assert load(f"tar:{tmp_path}").ids() == ["a/0.png", "a/1.png"]
    assert walks == [path, path]


def test_a_damaged_index_is_made_anew(tmp_path: Path, walks: list[Path]) -> None:
    shard(tmp_path / "a.tar", {"0.png": 0})
    load(f"tar:{tmp_path}")
    (tmp_path / "a.tar.index").write_bytes(b"PAR1 no index PAR1")
    forget()
    assert load(f"tar:{tmp_path}").ids() == ["a/0.png"]
    assert len(walks) == 2


def test_a_folder_that_takes_no_files_has_its_index_in_the_cache(
    tmp_path: Path, walks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = shard(tmp_path / "pool" / "a.tar", {"0.png": 0})
    write = tar_index.write

    def refuse_beside(place: Path, data: bytes) -> None:
        if place.parent == path.parent:
            raise BadInput("read-only")
        write(place, data)

    monkeypatch.setattr(tar_index, "write", refuse_beside)
    for _ in range(2):
        assert load(f"tar:{tmp_path / 'pool'}").ids() == ["a/0.png"]
        forget()
    assert walks == [path]
    assert [file.name for file in path.parent.iterdir()] == ["a.tar"]


def test_compressed_shards_give_the_same_images_in_any_order(tmp_path: Path) -> None:
    members = {f"{number}.png": 10 * number for number in range(6)}
    plain, packed = shard(tmp_path / "plain" / "a.tar", members), shard(tmp_path / "packed" / "a.tar.gz", members)
    expected, pool = load(f"tar:{plain}"), load(f"tar:{packed.parent}")
    assert pool.ids() == expected.ids()
    for id_ in (*pool.ids(), *reversed(pool.ids())):
        found = pool.read(id_)
        assert torch.equal(found.image, expected.read(id_).image)
        assert found.source == expected.read(id_).source


def test_a_truncated_compressed_shard_is_refused(tmp_path: Path) -> None:
    path = shard(tmp_path / "a.tar.gz", {f"{number}.png": number for number in range(6)})
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadInput, match="no readable tar"):
        load(f"tar:{path}")


def test_shards_of_one_name_are_refused(tmp_path: Path) -> None:
    shard(tmp_path / "a.tar", {"0.png": 0})
    shard(tmp_path / "a.tgz", {"0.png": 0})
    with pytest.raises(BadInput, match="share the id 'a'"):
        load(f"tar:{tmp_path}")


def test_samples_of_several_images_want_to_know_which(tmp_path: Path) -> None:
    shard(tmp_path / "a.tar", {"x/0.seg.png": 1, "x/0.png": 0, "x/1.seg.png": 1, "x/1.png": 0})
    with pytest.raises(BadInput, match=r"2 images \(png, seg.png\).*member=png"):
        load(f"tar:{tmp_path}")
    assert load(f"tar:{tmp_path}?member=png").ids() == ["a/x/0.png", "a/x/1.png"]
    assert len(load(f"tar:{tmp_path}?member=png,seg.png").ids()) == 4


def test_stretches_follow_the_shards_and_their_order(tmp_path: Path) -> None:
    shard(tmp_path / "b.tar", {"2.png": 2})
    shard(tmp_path / "a.tar", {"1.png": 1, "0.png": 0})
    assert list(load(f"tar:{tmp_path}").stretches()) == [("a/1.png", "a/0.png"), ("b/2.png",)]


def test_a_name_twice_is_its_last_member(tmp_path: Path) -> None:
    path = shard(tmp_path / "a.tar", {"0.png": 7})
    with tarfile.open(path, "a") as archive:
        data = encoded(9)
        info = tarfile.TarInfo("0.png")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    assert load(f"tar:{path}").read("a/0.png").image.max() == torch.tensor(9 / 255)
