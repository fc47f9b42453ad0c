"""Data, pools, weights and runs at addresses of fsspec: the same as on this machine's disk."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image
from tests.conftest import net

from segstress.core import BadInput
from segstress.core.remote import RemotePath, local_copy, path_of
from segstress.data import datasets, load
from segstress.evaluation import evaluate
from segstress.models import load as load_model
from segstress.results.run import Run
from segstress.results.seal import read_seal
from segstress.runtime import RunOptions
from segstress.runtime.publishing import publish


def encoded(number: int) -> bytes:
    buffer = io.BytesIO()
    pixels = np.random.default_rng(number).integers(256, size=(6, 5, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(buffer, "png")
    return buffer.getvalue()


def fill(root: Path) -> None:
    """Make one pool of each kind below a folder."""
    (root / "photos").mkdir(parents=True)
    (root / "tar").mkdir()
    (root / "rows").mkdir()
    for number in range(3):
        (root / "photos" / f"{number}.png").write_bytes(encoded(number))
    for name, how in (("a.tar", "w"), ("b.tar.gz", "w:gz")):
        with tarfile.open(root / "tar" / name, how) as archive:  # type: ignore[call-overload]
            for number in range(3):
                info = tarfile.TarInfo(f"{number}.png")
                info.size = len(encoded(number))
                archive.addfile(info, io.BytesIO(encoded(number)))
    pq.write_table(pa.table({"image": [encoded(number) for number in range(3)]}), root / "rows" / "x.parquet")
    pq.write_table(pa.table({"path": ["photos/0.png", "photos/2.png"]}), root / "list.parquet")


POOLS = ["folder:{}/photos?images=.&masks=none", "tar:{}/tar", "parquet:{}/rows?image=image", "list:{}/list.parquet"]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An address in memory that holds what lies below tmp_path / "pools"."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fill(tmp_path / "pools")
    system = fsspec.filesystem("memory")
    system.put(str(tmp_path / "pools"), "/pools", recursive=True)
    yield "memory://pools"
    system.rm("/", recursive=True)


def assert_same(here: str, there: str) -> None:
    local, remote = load(here), load(there)
    assert remote.ids() == local.ids()
    assert remote.fingerprint() == local.fingerprint()
    assert list(remote.stretches()) == list(local.stretches())
    again = datasets.build(datasets.spec(remote))  # as a worker builds it
    for id_ in local.ids():
        assert torch.equal(again.read(id_).image, local.read(id_).image)
        assert again.read(id_).source == local.read(id_).source


@pytest.mark.parametrize("pool", POOLS)
def test_pools_at_an_address_are_those_of_a_folder(pool: str, memory: str, tmp_path: Path) -> None:
    assert_same(pool.format(tmp_path / "pools"), pool.format(memory))


def test_a_list_may_name_addresses(memory: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"path": [f"{memory}/photos/1.png", "pools/photos/2.png"]}), tmp_path / "list.parquet")
    pool = load(f"list:{tmp_path}/list.parquet")
    assert [pool.read(id_).source for id_ in pool.ids()] == [
        load(f"folder:{memory}/photos?images=.&masks=none").read(id_).source for id_ in "12"
    ]


def test_weights_are_fetched_once(memory: str, tmp_path: Path) -> None:
    model = load_model(f"{net('tiny')}")
    torch.save(model.network.state_dict(), tmp_path / "w.pt")
    path_of(f"{memory}/w.pt").write_bytes((tmp_path / "w.pt").read_bytes())
    copy = local_copy(path_of(f"{memory}/w.pt"))
    assert copy.read_bytes() == (tmp_path / "w.pt").read_bytes()
    before = copy.stat().st_mtime_ns
    assert local_copy(path_of(f"{memory}/w.pt")).stat().st_mtime_ns == before
    elsewhere, here = (load_model(f"{net('tiny')}?weights={where}/w.pt") for where in (memory, tmp_path))
    for mine, other in zip(elsewhere.state_dict().values(), here.state_dict().values(), strict=True):
        assert torch.equal(mine, other)


def test_what_is_not_there_or_not_known_is_one_line(memory: str) -> None:
    with pytest.raises(BadInput, match=r"does not exist|holds no"):
        load(f"folder:{memory}/nowhere?images=.&masks=none")
    with pytest.raises(BadInput, match=r"segstress\[fsspec\]"):
        load("tar:nosuchsystem://bucket/x")


def test_a_run_is_published_fetched_and_continued(memory: str, tmp_path: Path) -> None:
    plan = {"models": [net("tiny")], "data": ["shapes:test?count=4&size=16"], "eps": "8/255"}
    plan |= {"perturbations": ["pgd?steps=2"], "numerics": {"batch_size": 2}}
    folder = evaluate(plan, tmp_path / "run", RunOptions(workers=1)).folder
    goal = path_of(f"{memory}/run")
    assert publish(folder, goal) > 5
    assert publish(folder, goal) == 0
    assert publish(goal, tmp_path / "again") > 5
    assert read_seal(Run(tmp_path / "again"))[0] == read_seal(Run(folder))[0]
    more = {**plan, "perturbations": ["pgd?steps=2", "segpgd?steps=2"]}
    evaluate(more, tmp_path / "again", RunOptions(workers=1))
    assert publish(tmp_path / "again", goal) > 0


def test_an_s3_server_on_this_machine(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fill(tmp_path / "pools")
    fsspec.filesystem("s3").put(str(tmp_path / "pools"), f"{s3}/pools", recursive=True)
    for pool in POOLS:
        assert_same(pool.format(tmp_path / "pools"), pool.format(f"{s3}/pools"))
    assert publish(tmp_path / "pools", path_of(f"{s3}/copy")) == len(list(Path(tmp_path / "pools").rglob("*.*")))
    assert RemotePath(f"{s3}/copy/photos/1.png").read_bytes() == encoded(1)


def test_from_python_an_address_is_mirrored_first_and_the_line_says_so() -> None:
    with pytest.raises(BadInput, match=r"with segstress\.runtime\.mirrored"):
        evaluate({"models": [net("tiny")], "data": ["shapes:test?count=2&size=16"]}, "memory://run")
