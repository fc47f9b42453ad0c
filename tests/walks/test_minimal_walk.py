"""`segstress minimal` from the command line to table and curves."""

from __future__ import annotations

import csv

import pytest

from segstress.cli.main import main
from segstress.jobs.minimal import finds


def test_minimal_walks_from_model_to_curve(tmp_path, capsys):
    out = tmp_path / "run"
    words = [
        "minimal",
        "--model",
        "compact:cnn-normal",
        "--data",
        "shapes:test",
        "--attack",
        "fmn?steps=30,dag?steps=3",
    ]
    with pytest.raises(SystemExit) as left:
        main([*words, "--limit", "2", "--out", str(out), "--workers", "1"])
    assert left.value.code == 0
    rows = list(csv.DictReader((out / "report" / "tables" / "minimal.csv").open()))
    assert [row["attack"] for row in rows] == ["dag(steps=3)", "fmn(steps=30)", "best of all"]
    assert rows[0]["unsuccessful"] == "1"  # three steps are too few: told, not lost
    assert all(float(row["images"]) == 2 for row in rows)
    assert len(list((out / "report" / "figures").glob("minimal-*.svg"))) == 1
    assert "upper bounds" in capsys.readouterr().out
    on_the_way = {find.threshold for find in finds(out, one_trajectory=True)}
    assert (on_the_way, {find.threshold for find in finds(out)}) == ({"99%", "95%", "90%"}, {"99%"})
    for found in finds(out):
        assert found.size <= found.raw_size + 1e-9
        assert found.success == (found.won >= 0.99)
