"""Equal runs bear equal seals, and nobody can change a count and keep it; verify believes neither."""

from __future__ import annotations

import json
import math
import shutil

import pytest
from tests.conftest import net, write_folder
from tests.forging import as_earlier, edit_rows, fit, unkept, worsen

from segstress.core import BadInput
from segstress.evaluation import evaluate
from segstress.evaluation.report import figures, report
from segstress.evaluation.verify import verify
from segstress.runtime import RunOptions, write_json

PLAN = {
    "models": [net("tiny")],
    "data": ["shapes:test?count=5&size=16"],
    "perturbations": ["pgd?steps=2"],
    "eps": "8/255",
    "numerics": {"batch_size": 2},
}
MANY = {**PLAN, "data": ["shapes:test?count=30&size=16"]}  # pictures of 24 are kept


def seal(folder):
    (run,) = figures([folder])["runs"]
    return run["seal"]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("done") / "run"
    evaluate(MANY, folder, RunOptions(workers=1))
    return folder


@pytest.fixture
def copy(done, tmp_path):
    shutil.copytree(done, tmp_path / "run")
    return tmp_path / "run"


def test_shards_and_interruptions_leave_the_seal_as_it_is(tmp_path):
    evaluate(PLAN, tmp_path / "one", RunOptions(workers=1, shard_size=5))
    evaluate(PLAN, tmp_path / "two", RunOptions(workers=1, shard_size=1))
    (cell,) = (tmp_path / "two").glob("cells/*pgd*")
    stem = sorted(cell.glob("sums-*.json"))[0].stem.removeprefix("sums-")
    for path in [*cell.glob(f"*-{stem}.*"), cell / "manifest.json", tmp_path / "two" / "seal.json"]:
        path.unlink()  # as if it had been stopped there
    evaluate(PLAN, tmp_path / "two", RunOptions(workers=1, shard_size=3))
    assert seal(tmp_path / "one") == seal(tmp_path / "two")
    assert len(seal(tmp_path / "one")) == 32


def test_one_count_changes_the_seal(copy):
    before = seal(copy)
    edit_rows(next(copy.glob("cells/*pgd*/counts-*.parquet")), lambda row: row | {"hits": row["hits"] + 1})
    fit(copy)
    assert seal(copy) != before


def test_page_and_verify_show_it(copy):
    assert seal(copy) in report([copy]).read_text()
    assert verify(copy)[0].sound
    write_json(copy / "seal.json", {"seal": 32 * "0", "environment_seal": 32 * "0"})
    assert "seal.json does not fit" in verify(copy, 0)[0].faults[0]


def faults(verdicts):
    return [fault for verdict in verdicts for fault in verdict.faults]


def test_what_is_as_it_was_is_sound_to_the_last_pixel(done):
    verdicts = verify(done, everything=True)
    assert faults(verdicts) == []
    assert [verdict.rounding for verdict in verdicts] == [""] * 3
    assert [verdict.repeated for verdict in verdicts] == [0, 30, 30]


def test_an_editor_of_unkept_images_who_renews_the_seal_is_caught(copy):
    image = unkept(copy)[0]
    worsen(copy, [image])
    for how in ({"everything": True}, {"share": 1.0, "seed": 0}):
        assert any(fault.startswith(f"{image} (") and "counted again" in fault for fault in faults(verify(copy, **how)))


@pytest.mark.slow
def test_an_editor_is_caught_as_often_as_the_page_on_integrity_calculates(tmp_path):
    """Two of ten unkept images are changed and three drawn: noticed in 64 of 120 draws, to three standard errors."""
    plan = {**PLAN, "data": ["shapes:test?count=34&size=16"], "numerics": {"batch_size": 1}}
    evaluate(plan, tmp_path / "run", RunOptions(workers=1))
    worsen(tmp_path / "run", unkept(tmp_path / "run")[:2])
    noticed = sum(bool(faults(verify(tmp_path / "run", 0.3, seed=seed))) for seed in range(40))
    expected = 1 - math.comb(8, 3) / math.comb(10, 3)
    assert abs(noticed - 40 * expected) < 3 * math.sqrt(40 * expected * (1 - expected))


def test_a_changed_mask_of_equal_size_is_refused_by_name_and_a_moved_folder_goes_on(tmp_path):
    root = write_folder(tmp_path / "photos", [(16, 20)] * 3)
    asked = {**PLAN, "data": [f"folder:{root}?classes=7&ignore=255"]}
    evaluate({**asked, "limit": 2}, tmp_path / "run", RunOptions(workers=1))
    moved = root.rename(tmp_path / "elsewhere")
    evaluate({**asked, "data": [f"folder:{moved}?classes=7&ignore=255"]}, tmp_path / "run", RunOptions(workers=1))
    assert len(list((tmp_path / "run" / "cells").iterdir())) == 2
    assert faults(verify(tmp_path / "run")) == []
    mask = moved / "masks" / "scene-1.png"
    data = bytearray(mask.read_bytes())
    data[-20] ^= 1
    mask.write_bytes(data)
    with pytest.raises(BadInput, match=r"masks/scene-1\.png changed since the run was begun"):
        evaluate({**asked, "data": [f"folder:{moved}?classes=7&ignore=255"]}, tmp_path / "run", RunOptions(workers=1))


def test_results_of_the_schema_before_are_read_but_not_continued(copy):
    before = figures([copy])["runs"][0]
    as_earlier(copy)
    after = figures([copy])["runs"][0]
    assert after["worst_case"] == before["worst_case"]
    assert after["seal"] is None
    with pytest.raises(BadInput, match="results of schema 1, and this version writes 2"):
        evaluate(MANY, copy, RunOptions(workers=1))


def test_the_environment_tells_machine_versions_and_code(done):
    plain = json.loads((done / "environment.json").read_text())
    assert plain["begun"].startswith("20")
    assert {"torch", "numpy", "pyarrow", "pydantic"} <= set(plain["versions"])
    assert set(plain["host"]) == {"processor", "cores", "memory"}
    assert len(plain["code"]["nets.py"].partition(",")[0]) == 40
