"""`segstress minimal` from the command line to table and curves."""

from __future__ import annotations

import csv

import pytest

from segstress.cli.main import main
from segstress.results.minimal import read_minimal
from segstress.results.run import Run

NAMES = ("fmn-auto(steps=30)", "dag-auto(steps=3)")


def test_minimal_walks_from_model_to_curve(tmp_path, capsys):
    out = tmp_path / "run"
    words = [
        "minimal",
        "--model",
        "compact:cnn-normal",
        "--data",
        "shapes:test",
        "--attack",
        "fmn-auto?steps=30,dag-auto?steps=3",
        "--enough",
        "0.99,0.9",
    ]
    with pytest.raises(SystemExit) as left:
        main([*words, "--limit", "2", "--out", str(out), "--workers", "1"])
    assert left.value.code == 0
    rows = list(csv.DictReader((out / "report" / "tables" / "minimal.csv").open()))
    assert [row["attack"] for row in rows] == 2 * [*NAMES, "best of all"], "as they were asked for"
    assert rows[1]["unsuccessful"] == "1"  # three steps are too few: told, not lost
    assert all(float(row["images"]) == 2 for row in rows)
    assert len(list((out / "report" / "figures").glob("minimal-*.svg"))) == 1  # two thresholds side by side
    assert "What the smallest changes look like" in (out / "report" / "index.html").read_text()
    assert "upper bounds" in capsys.readouterr().out
    aimed, all_thresholds = read_minimal(Run(out)), read_minimal(Run(out), one_trajectory=True)
    assert len(aimed) == 2 * 2 * 2  # attacks, thresholds, images: at 90% only the runs aimed at it
    assert not any("on the way" in find.attack for find in aimed)
    assert [find for find in all_thresholds if "on the way" not in find.attack] == aimed
    way = {(find.attack, find.threshold) for find in all_thresholds if find not in aimed}
    assert way == {(f"{name} (on the way to 99%)", share) for name in NAMES for share in ("95%", "90%")}
    for found in aimed:
        assert found.size <= found.raw_size + 1e-9
        assert found.success == (found.won >= float(found.threshold.rstrip("%")) / 100)
        assert found.seconds > 0  # every image's own, beside the results
