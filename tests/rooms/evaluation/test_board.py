"""A board of sealed runs: what is in it, and what is not let in."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import pytest

from segstress.core import BadInput
from segstress.evaluation import evaluate
from segstress.evaluation.board import board
from segstress.evaluation.report import figures
from segstress.runtime import RunOptions


def make(folder: Path, model: str, eps: str = "8/255") -> Path:
    data = "shapes:test?count=2&size=32"
    plan = {"models": [model], "data": [data], "perturbations": ["pgd?steps=2"], "eps": eps}
    evaluate(plan, folder, RunOptions(workers=1))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("runs")
    both = make(root / "cnn", "compact:cnn-normal", "4/255,8/255")
    return [both, make(root / "unet", "compact:unet-normal")]


@pytest.fixture(scope="module")
def site(runs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return board(runs, tmp_path_factory.mktemp("site"), by="<script>us").parent


def test_figures_are_those_of_the_runs(runs: list[Path], site: Path) -> None:
    rows = list(csv.DictReader((site / "tables" / "accuracy.csv").open()))
    assert {row["model"] for row in rows} == {"cnn-normal", "unet-normal"}
    for run in figures(runs)["runs"]:
        (row,) = (row for row in rows if row["model"] == run["model"])
        (column,) = (name for name in row if name.startswith(run["threat"]) and not name.endswith(("_low", "_high")))
        assert float(row[column]) == pytest.approx(run["worst_case"]["accuracy"], abs=1e-6)


def test_a_card_says_where_figures_come_from_and_links_lead_somewhere(runs: list[Path], site: Path) -> None:
    text = (site / "index.html").read_text()
    for run in figures(runs)["runs"]:
        assert run["seal"] in text
    assert "model hash" in text
    assert "segstress run plan.yaml" in text
    assert "&lt;script&gt;us" in text
    links = {link for link in re.findall(r'href="([^"#]+)"', text) if not link.startswith("data:")}
    assert {"runs/cnn/index.html", "runs/unet/plan.yaml"} <= links
    assert [link for link in links if not (site / link).exists()] == []


def test_what_is_not_whole_or_sealed_is_refused_by_name(runs: list[Path], tmp_path: Path) -> None:
    shutil.copytree(runs[1], tmp_path / "broken")
    (tmp_path / "broken" / "seal.json").unlink()
    with pytest.raises(BadInput, match=r"broken: .*seal\.json is missing"):
        board([runs[0], tmp_path / "broken"], tmp_path / "site")
    assert not (tmp_path / "site").exists(), "nothing is written before every run has been let in"
    page = board([runs[0], tmp_path / "broken"], tmp_path / "site", unsealed=True)
    assert "bears no seal" in page.read_text()


def test_the_same_question_twice_is_refused(runs: list[Path], tmp_path: Path) -> None:
    shutil.copytree(runs[1], tmp_path / "again")
    with pytest.raises(BadInput, match=r"again: unet-normal on .* is in an earlier run too"):
        board([runs[1], tmp_path / "again"], tmp_path / "site")
    assert not (tmp_path / "site").exists()
