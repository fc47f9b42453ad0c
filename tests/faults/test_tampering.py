"""Bits flip, files are cut, lost, swapped: each fault is noticed, or changes no figure."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import net

from segstress.core import BadInput
from segstress.evaluation import evaluate
from segstress.evaluation.report import figures
from segstress.runtime import Progress, RunOptions

PLAN = {
    "models": [net("tiny")],
    "data": ["shapes:test?count=4&size=16"],
    "perturbations": ["pgd?steps=2"],
    "eps": "8/255",
}
WRITTEN_AGAIN = ("timings.csv", ".lock")  # what no figure of a report is made of


def flip(path: Path, draw: random.Random, _: list[Path]) -> None:
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def truncate(path: Path, draw: random.Random, _: list[Path]) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: draw.randrange(len(data))])


def delete(path: Path, _: random.Random, __: list[Path]) -> None:
    path.unlink()


def swap(path: Path, draw: random.Random, paths: list[Path]) -> None:
    same = [other for other in paths if other.name.split("-")[0] == path.name.split("-")[0] and other != path]
    other = draw.choice(same or [one for one in paths if one != path])
    mine, yours = path.read_bytes(), other.read_bytes()
    path.write_bytes(yours)
    other.write_bytes(mine)


def double(path: Path, draw: random.Random, _: list[Path]) -> None:
    name = path.name.replace("-", f"-{draw.randrange(10)}", 1) if "-" in path.name else f"copy-{path.name}"
    shutil.copy(path, path.with_name(name))


FAULTS: tuple[Callable[[Path, random.Random, list[Path]], None], ...] = (flip, flip, truncate, delete, swap, double)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """A run in shards of one batch, and its figures."""
    folder = tmp_path_factory.mktemp("sealed") / "run"
    asked = {**PLAN, "numerics": {"batch_size": 2}}
    evaluate(asked, folder, RunOptions(workers=1, shard_size=2))
    return folder, told(folder)


def told(folder: Path) -> str:
    return json.dumps(figures([folder]), sort_keys=True)


def silent(folder: Path, before: str) -> bool:
    """Tell whether figures changed and nobody said so."""
    try:
        found = figures([folder])
    except BadInput:
        return False
    noticed = any(run["alarms"] or run["damage"] for run in found["runs"])
    return not noticed and json.dumps(found, sort_keys=True) != before


def try_faults(sealed, place: Path, seeds: range) -> list[str]:
    folder, before = sealed
    wrong = []
    for seed in seeds:
        draw, copy = random.Random(seed), place / str(seed)
        shutil.copytree(folder, copy)
        paths = sorted(path for path in copy.rglob("*") if path.is_file() and path.name not in WRITTEN_AGAIN)
        fault, path = FAULTS[seed % len(FAULTS)], draw.choice(paths)
        fault(path, draw, paths)
        if silent(copy, before):
            wrong.append(f"{seed}: {fault.__name__} {path.name}")
        shutil.rmtree(copy)
    return wrong


def test_no_fault_is_silent(sealed, tmp_path):
    assert try_faults(sealed, tmp_path, range(24)) == []


@pytest.mark.slow
def test_no_fault_of_many_is_silent(sealed, tmp_path):
    assert try_faults(sealed, tmp_path, range(1000, 1540)) == []


@pytest.mark.parametrize("fault", [flip, truncate, delete], ids=lambda fault: fault.__name__)
def test_a_damaged_shard_is_named_set_aside_and_computed_again(fault, sealed, tmp_path):
    folder, before = tmp_path / "run", sealed[1]
    shutil.copytree(sealed[0], folder)
    path = sorted(folder.glob("cells/*pgd*/counts-*.parquet"))[0]
    fault(path, random.Random(0), [])
    (run,) = figures([folder])["runs"]
    assert path.name in run["damage"][0]
    assert (run["complete"], run["unanswered"]) == (False, 2)
    said: list[str] = []
    asked = {**PLAN, "numerics": {"batch_size": 2}}
    evaluate(asked, folder, RunOptions(workers=1, shard_size=2), Progress(warn=said.append))
    assert any(path.name in line and "set aside" in line for line in said)
    assert list(path.parent.glob("set-aside/images-*.parquet"))
    assert told(folder) == before


def test_a_shard_of_another_cell_is_foreign(sealed, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(sealed[0], folder)
    clean, attacked = (next(folder.glob(f"cells/*{name}*")) for name in ("clean", "pgd"))
    for path in clean.glob("*-*"):
        if path.suffix in (".parquet", ".zst") or path.name.startswith("sums"):
            shutil.copy(path, attacked)
    (run,) = figures([folder])["runs"]
    assert "belongs to another cell" in run["damage"][0]
    assert not run["complete"]


def test_lost_notes_of_the_doctor_are_named_and_written_again(sealed, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(sealed[0], folder)
    (folder / "doctor.json").unlink()
    (run,) = figures([folder])["runs"]
    assert "doctor.json is missing" in run["damage"][0]
    assert run["seal"] is None
    evaluate({**PLAN, "numerics": {"batch_size": 2}}, folder, RunOptions(workers=1, shard_size=2))
    assert told(folder) == sealed[1]


@pytest.mark.parametrize("name", ["plan.yaml", "asked.json", "environment.json", "doctor.json"])
def test_a_changed_letter_beside_the_shards_is_one_clear_line(name, sealed, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(sealed[0], folder)
    path = folder / name
    data = bytearray(path.read_bytes())
    data[-3 if name != "plan.yaml" else data.rindex(b"float32")] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadInput, match=name):
        figures([folder])
