"""A streamed pool is handed out by shards: nobody lists it first, several processes share it, a bad one is counted."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.rooms.competition.contests import MODELS, QUIET, rows

from segstress.contests import stream_work
from segstress.contests.compete import begin
from segstress.contests.competition import Competition
from segstress.contests.plan import read_contest
from segstress.contests.stream_work import LOST, StreamWork
from segstress.data import load, tar
from segstress.runtime import Progress, RunOptions
from segstress.runtime.sharing import SoleProcess

ALONE = RunOptions(workers=1)
SHARDS = "abcdef"


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six shards of three images, a unit each."""
    monkeypatch.setattr(stream_work, "BYTES", 1)
    folder = tmp_path / "shards"
    folder.mkdir()
    for shard in SHARDS:
        with tarfile.open(folder / f"{shard}.tar", "w") as archive:
            for number in range(3):
                buffer = io.BytesIO()
                draw = np.random.default_rng([number, ord(shard)])
                Image.fromarray(draw.integers(256, size=(16, 16, 3)).astype(np.uint8)).save(buffer, "png")
                info = tarfile.TarInfo(f"{number}.png")
                info.size = len(buffer.getvalue())
                archive.addfile(info, io.BytesIO(buffer.getvalue()))
    return folder


def started(folder: Path, pool: Path, scale: str = "none") -> Competition:
    asked = {"models": MODELS[:2], "pool": f"tar:{pool}", "scale": scale, "rule": {"near": -1}}
    return begin(read_contest(asked), folder, streamed=True)


def test_a_shard_is_listed_when_its_turn_comes(tmp_path: Path, pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    competition, listed, list_images = started(tmp_path / "mad", pool), list[str](), tar.list_images
    monkeypatch.setattr(tar, "list_images", lambda shard: listed.append(shard.name) or list_images(shard))
    after: list[set[str]] = []
    progress = Progress(advance=lambda number, words="": after.append(set(listed)))
    competition.stream(progress, ALONE)
    assert len(after) == len(SHARDS)
    assert after[0] == {"a.tar"}, "a pool of 10^5 shards would be listed before anything is done"
    assert after[-1] == {f"{shard}.tar" for shard in SHARDS}


def test_small_shards_go_together(tmp_path: Path, pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = load(f"tar:{pool}")
    assert len(list(stream_work.units_of(data))) == len(SHARDS)
    monkeypatch.setattr(stream_work, "BYTES", 2 * (pool / "a.tar").stat().st_size)
    pairs = [tuple(name[-1] for name in unit.stretches) for unit in stream_work.units_of(data)]
    assert pairs == [("a", "b"), ("c", "d"), ("e", "f")]


def test_another_shard_under_the_same_name_is_another_stretch(pool: Path) -> None:
    before = [stretch.name for stretch in load(f"tar:{pool}").outline()]
    (pool / "b.tar").write_bytes((pool / "b.tar").read_bytes() + bytes(512))
    after = [stretch.name for stretch in load(f"tar:{pool}").outline()]
    assert [one != other for one, other in zip(before, after, strict=True)] == [shard == "b" for shard in SHARDS]


@pytest.mark.parametrize("dataset", ["shapes:pool?count=600&size=16", "shapes:test?count=3&size=16"])
def test_stretches_of_any_dataset_can_be_named(dataset: str) -> None:
    data = load(dataset)
    assert [data.stretch(stretch.name) for stretch in data.outline()] == list(data.stretches())
    assert [stretch.images for stretch in data.outline()] == [len(ids) for ids in data.stretches()]


def test_a_damaged_shard_is_counted_and_the_rest_goes_on(tmp_path: Path, pool: Path) -> None:
    competition = started(tmp_path / "mad", pool)
    (pool / "c.tar").write_bytes(b"broken" * 500)
    _, total, faults = competition.stream(QUIET, ALONE)
    assert total.counters == {"images": 15, LOST: 1}
    assert len(faults) == 1
    assert "c.tar is no readable tar file" in faults[0]
    assert rows(tmp_path / "mad")


@pytest.mark.parametrize("scale", ["none", "pool"])
def test_parts_share_the_shards_and_the_last_selects(tmp_path: Path, pool: Path, scale: str) -> None:
    _, whole, _ = started(tmp_path / "whole", pool, scale).stream(QUIET, ALONE)
    competition, said = started(tmp_path / "parts", pool, scale), list[str]()
    progress = replace(QUIET, warn=said.append)
    first, some, _ = competition.stream(progress, replace(ALONE, part="1/2"))
    if scale == "none":  # the first of two passes is finished by whoever is there, since the second rests on all of it
        assert first is None
        assert some.counters == {"images": 9}
        assert "parts that have not begun: 2/2" in said[-1]
    selection, total, _ = competition.stream(progress, replace(ALONE, part="2/2"))
    assert selection is not None
    assert total.counters == whole.counters == {"images": 18}
    assert rows(tmp_path / "parts") == rows(tmp_path / "whole")
    assert (tmp_path / "parts/index.parquet").read_bytes() == (tmp_path / "whole/index.parquet").read_bytes()


def test_shards_that_workers_die_of_are_counted(tmp_path: Path, pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    competition = started(tmp_path / "mad", pool)
    call = StreamWork.__call__

    def dying(work, unit):
        return work.give_up(unit, "workers died of it") if unit.number == 1 else call(work, unit)

    with monkeypatch.context() as patched:
        patched.setattr(StreamWork, "__call__", dying)
        _, total, faults = competition.stream(QUIET, ALONE)
    assert total.counters == {"images": 15, LOST: 1}
    assert "b: workers died of it" in faults[0]
    _, again, _ = competition.stream(QUIET, ALONE)
    assert again.counters == total.counters


def test_no_quartiles_are_taken_of_a_part_of_the_pool(
    tmp_path: Path, pool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    competition = started(tmp_path / "mad", pool, "pool")
    monkeypatch.setattr(SoleProcess, "complete", False)
    selection, _, _ = competition.stream(QUIET, ALONE)
    assert selection is None
    assert not (tmp_path / "mad" / "index.parquet").exists()
    assert {path.name.partition("-")[0] for path in (tmp_path / "mad" / "stream").iterdir()} == {"shares"}
