"""A new metric, table or figure is one file: it is in the page, the files, the JSON and the terminal."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from segstress.core import BadInput
from segstress.metrics import metrics
from segstress.reports.study import drawings, tables
from segstress.reports.study.layout import LAYOUT

METRIC = '''
"""The Sorensen index, as a user would add it."""

from segstress.metrics import declare, metrics, over_images, over_pool, ratio
from segstress.metrics.scores import columns


def image_sorensen(counts):
    hits, predicted, actual = columns(counts)
    return ratio(2 * hits.sum(-1), (predicted + actual).sum(-1))


@metrics.register("sorensen")
@over_images
def sorensen(counts):
    """Sorensen: twice the hits over predicted plus actual pixels of an image, mean over images."""
    return image_sorensen(counts)


@metrics.register("pooled_sorensen")
@declare(goal="miou", pooled=True, headline=False)
@over_pool
def pooled_sorensen(counts):
    """Pooled Sorensen: twice the hits over predicted plus actual pixels of all images."""
    return image_sorensen(counts)
'''
PARTS = '''
"""A table and a figure, as a user would add them, and one of each that fails."""

from segstress.reports.kit import Column, Drawing, Table, canvas
from segstress.reports.study import drawings, tables


@tables.register("my-table")
def my_table(assessment):
    """The share of pixels right, once more."""
    columns = (Column("state", "State"), Column("right", "Right", "share"), Column("pid", "Process", hidden=True))
    rows = (("clean", assessment.score("accuracy"), "1"), ("worst", assessment.worst_score("accuracy"), "1"))
    return Table("any name", "Right before and after", columns, rows, "From a plug-in.")


@drawings.register("my-figure")
def my_figure(assessment):
    """The same as bars."""
    figure, (axis,) = canvas(1.5)
    axis.barh([0, 1], [assessment.score("accuracy"), assessment.worst_score("accuracy")])
    return Drawing("my-figure", "Bars of a plug-in", "Clean above worst case.", figure)


@tables.register("absent-table")
def absent_table(assessment):
    """Nothing to show."""
    return None


@drawings.register("faulty-figure")
def faulty_figure(assessment):
    """A mistake."""
    return assessment.no_such_thing
'''
DOCS = Path(__file__).parents[3] / "docs" / "reports.md"
SECTION = "cnn-normal-shapes-test-linf-8-255"


def segstress(*arguments: str) -> str:
    """Run a command in a process of its own; what it prints."""
    code = "import sys; from segstress.cli.main import main; main(sys.argv[1:])"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A tiny run with plug-ins, ours and those that the docs show; what it prints, and its report."""
    folder = tmp_path_factory.mktemp("plugin")
    examples = re.findall(r"```python\n(.*?)```", DOCS.read_text(), flags=re.DOTALL)
    (folder / "plugin.py").write_text("\n".join([PARTS, *examples]))
    (folder / "dice.py").write_text(METRIC)
    run = ["attack", "--model", "compact:cnn-normal", "--data", "shapes:test", "--limit", "2", "--workers", "1"]
    run += ["--attack", "pgd?steps=2,fgsm", "--eps", "8/255", "--plugin", str(folder / "plugin.py")]
    run += ["--plugin", str(folder / "dice.py")]
    printed = segstress(*run, "--out", str(folder / "run"))
    return printed, folder / "run" / "report"


def rows(report: Path, table: str) -> list[dict[str, str]]:
    with (report / "tables" / f"{SECTION}-{table}.csv").open() as file:
        return list(csv.DictReader(file))


def test_a_metric_of_a_plugin_is_in_every_report(attacked: tuple[str, Path]) -> None:
    printed, report = attacked
    assert "sorensen" in printed
    text = (report / "index.html").read_text()
    assert "Sorensen[void=" in text
    assert text.count("failed and is left out") == 1, "the faulty figure alone"
    robust = {row["figure"]: row for row in rows(report, "robust")}
    for name in ("sorensen", "pooled_sorensen"):
        clean, worst = (robust[name][state] for state in ("clean", "worst"))
        assert 0 <= float(robust[name]["worst_low"]) <= float(worst) <= float(robust[name]["worst_high"])
        assert float(worst) < float(clean)
    perturbed = rows(report, "perturbations")
    assert float(robust["sorensen"]["worst"]) <= min(float(row["sorensen"]) for row in perturbed)
    (run,) = json.loads(segstress("report", str(report.parent), "--json"))["runs"]
    assert run["worst_case"]["sorensen"] == pytest.approx(float(robust["sorensen"]["worst"]), abs=1e-5)
    assert run["worst_case"]["pooled_sorensen"] <= run["worst_case"]["pooled_sorensen_selected"]
    assert run["headline"] == ["accuracy", "cmiou", "nmiou", "dice", "sorensen"]
    for part in ("clean", "worst_case", "constant", "definitions"):
        assert {"sorensen", "pooled_sorensen"} <= set(run[part])
    assert all({"sorensen", "pooled_sorensen"} <= set(figures) for figures in run["perturbations"].values())
    assert [row["sorensen"] for row in rows(report, "leave_out")]


def test_a_table_and_a_figure_of_a_plugin_are_in_the_page_and_in_files(attacked: tuple[str, Path]) -> None:
    _, report = attacked
    text = (report / "index.html").read_text()
    for words in ("Right before and after", "From a plug-in.", "Bars of a plug-in", "Clean above worst case."):
        assert words in text
    assert "<th hidden>Process</th>" in text
    assert [row["pid"] for row in rows(report, "my-table")] == ["1", "1"]
    for file in ("tables/{}-my-table.tex", "figures/{}-my-figure.svg", "figures/{}-my-figure.pdf"):
        assert (report / file.format(SECTION)).stat().st_size
        assert f'href="{file.format(SECTION)}"' in text
    assert f'href="tables/{SECTION}-my-table.csv"' in text
    assert [row["state"] for row in rows(report, "right")] == ["clean", "worst case"], "the example of the docs"
    assert "dice" in {row["figure"] for row in rows(report, "robust")}
    assert f'href="figures/{SECTION}-right.svg"' in text
    assert "absent-table" not in text
    assert f"Figure {SECTION}-faulty-figure failed and is left out (AttributeError" in text
    order = [text.index(words) for words in ("Clean and robust", "Bars of a plug-in", "More numbers")]
    assert order == sorted(order)


def test_the_layout_names_only_what_there_is() -> None:
    known = {f"table {name}" for name in tables.names()} | {f"figure {name}" for name in drawings.names()}
    named = [entry for entries in LAYOUT.values() for entry in entries]
    assert set(named) == known, "what this package registers has a place of its own"
    assert len(named) == len(set(named))


def test_a_function_that_declares_nothing_is_no_metric() -> None:
    with pytest.raises(BadInput, match="expected a score under @over_pool or @over_images"):
        metrics.register("bare")(lambda counts: 0.0)
    with pytest.raises(BadInput, match="may not end in _foreground or _selected"):
        metrics.register("dice_selected")
