"""A paper's published figures beside ours."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from tests.conftest import net

from segstress.cli import mad
from segstress.core import BadInput
from segstress.evaluation import evaluate
from segstress.evaluation.reproduce import compare, measured
from segstress.planning.papers import paper, papers
from segstress.planning.published import PublishedModel, published, published_names
from segstress.results.run import Run
from segstress.runtime import RunOptions

DATA = "shapes:test?count=2&size=32"
PAPERS = ["mad", "proximal-splitting", "sea", "spatial", "trying-harder"]


def run(folder: Path, *changes: object, **more: object) -> Path:
    """Evaluate a tiny network on two images."""
    plan = {"models": [net("tiny")], "data": [DATA], "perturbations": list(changes), "exhaustive": True, **more}
    evaluate(plan, folder, RunOptions(workers=1))
    return folder


def test_every_paper_is_there() -> None:
    assert published_names() == PAPERS
    assert not set(published_names()) & set(papers()), "figures are no protocols"


@pytest.mark.parametrize("name", PAPERS)
def test_every_figure_names_its_table_and_its_protocol(name: str) -> None:
    found = published(name)
    assert "arXiv:" in found.about
    for model in found.models.values():
        assert model.source.startswith("table ")
        assert model.figures
        if name != "mad":
            protocol = paper(model.plan)
            named = protocol.plan["models"]
            assert len(protocol.networks) == (1 if isinstance(named, str) else len(named))
            assert model.model < len(protocol.networks)
            assert model.network


@pytest.mark.parametrize(
    ("name", "model", "figure", "value"),
    [
        ("trying-harder", "voc-pspnet-pgd-at-100", "8/255 accuracy", 39.25),
        ("trying-harder", "cityscapes-deeplabv3-segpgd-at-100", "8/255 nmiou", 21.82),
        ("trying-harder", "voc-deeplabv3-normal", "clean nmiou_zero_foreground", 42.89),
        ("sea", "ade20k-segmenter-vit-s-pir-at", "8/255 cmiou", 5.3),
        ("proximal-splitting", "cityscapes-segformer-b3", "alma-prox median", 0.33),
        ("spatial", "pspnet", "gaussian_noise 5 outside", 59.8),
        ("mad", "pascal-voc", "resistance BlitzNet", 2),
    ],
)
def test_figures_are_those_of_the_tables(name: str, model: str, figure: str, value: float) -> None:
    assert published(name).of(model).figures[figure] == value


def test_attacks_are_compared_clean_and_at_each_radius(tmp_path: Path) -> None:
    ours = measured(run(tmp_path / "run", "pgd?steps=2", eps=["4/255", "8/255"]), "study")
    asked = {figure for model in published("trying-harder").models.values() for figure in model.figures}
    asked |= {
        figure for model in published("sea").models.values() for figure in model.figures if "12/255" not in figure
    }
    assert asked <= ours.keys()
    assert 0 <= ours["8/255 accuracy"] <= ours["4/255 accuracy"] <= ours["clean accuracy"] <= 100
    assert 0 < ours["clean nmiou_zero_foreground"] < ours["clean nmiou_foreground"]


def test_searches_and_patches_are_compared_too(tmp_path: Path) -> None:
    searched = measured(run(tmp_path / "minimal", {"attack": "alma-prox", "steps": 3, "enough": 0.99}), "minimal")
    assert len(searched) == 2
    assert all(name.startswith("alma-prox") and value > 0 for name, value in searched.items())
    snow = {"kind": "corrupt", "corruption": "snow", "severity": 3, "region": {"kind": "patches", "size": 8}}
    damaged = measured(run(tmp_path / "spatial", snow), "spatial")
    assert list(damaged) == ["clean", "snow 3 inside", "snow 3 outside"]
    assert set(damaged) <= published("spatial").of(None).figures.keys()


def test_a_deviation_is_ours_minus_published_and_nothing_where_we_have_none() -> None:
    table = compare(PublishedModel(source="table 9", figures={"a": 2.0, "b": 1.0}), {"a": 2.5}, "A paper")
    assert table.rows[0] == ("a", 2.0, 2.5, 0.5)
    assert [cell != cell for cell in table.rows[1][2:]] == [True, True]
    assert "table 9" in table.note


@pytest.mark.parametrize(
    ("name", "model", "line"),
    [
        ("sae", None, "unknown paper 'sae'; known: mad"),
        ("sea", "mine", "the paper prints no 'mine'; it has voc-upernet"),
    ],
)
def test_what_no_paper_has_is_refused(name: str, model: str | None, line: str) -> None:
    with pytest.raises(BadInput, match=line):
        published(name).of(model)


def test_the_command_line_prints_both(segstress, tmp_path: Path) -> None:
    said = segstress(
        *("reproduce", "spatial", "--model", f"{net('tiny')}?classes=7", "--data", DATA, "--limit", "1"),
        *("--workers", "1"),
    )
    assert said.code == 0, said.err
    assert "Published" in said.out
    with (tmp_path / "runs/reproduce-spatial/published.csv").open() as file:
        rows = {row["figure"]: row for row in csv.DictReader(file)}
    assert float(rows["clean"]["published"]) == 79.3
    assert float(rows["clean"]["deviation"]) == pytest.approx(float(rows["clean"]["ours"]) - 79.3, abs=1e-3)


@pytest.mark.parametrize("weights", [(), ("--weights", "mine.pth")])
def test_figures_of_another_network_than_the_protocols_want_a_model(segstress, weights: tuple[str, ...]) -> None:
    said = segstress("reproduce", "sea", "--as", "voc-pspnet-50-at", "--data", DATA, *weights)
    assert said.code == 2
    line = "the published figures are of pspnet-50, the network of sea-voc-473 is upernet-convnext-t; give"
    assert line in " ".join(said.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("name", "model", "network"),
    [
        ("trying-harder", "cityscapes-deeplabv3-segpgd-at-100", "deeplabv3"),
        ("sea", "ade20k-segmenter-vit-s-at", "segmenter-vit-s"),
        ("spatial", "deeplabv3-r", "deeplabv3-r"),
        ("proximal-splitting", "voc-fcn-hr48", "fcn-hr48"),
    ],
)
def test_a_published_model_says_which_network_it_is(name: str, model: str, network: str) -> None:
    assert published(name).of(model).network == network


def test_it_takes_the_numerics_of_every_run(segstress, tmp_path: Path) -> None:
    said = segstress(
        *("reproduce", "spatial", "--model", f"{net('tiny')}?classes=7", "--data", DATA, "--limit", "1"),
        *("--workers", "1", "--device", "cpu", "--threads", "2", "--batch-size", "3", "--keep-images"),
    )
    assert said.code == 0, said.err
    plan = Run(tmp_path / "runs/reproduce-spatial").plan
    assert (plan.numerics.threads, plan.numerics.batch_size, plan.keep_images) == (2, 3, True)
    assert plan.seed == 42, "the protocol's own"


def test_a_competition_is_compared_by_its_places(segstress, tmp_path: Path) -> None:
    said = segstress("reproduce", "mad")
    assert said.code == 2
    assert "expected a finished competition" in said.err
    named = re.findall(r"mad (\w+)", " ".join(said.err.split()))
    assert named == ["index", "predict", "compare", "select", "rank"]
    assert set(named) <= mad.COMMANDS.keys()
    (tmp_path / "done/report").mkdir(parents=True)
    ranking = {"rankings": {"aggressiveness": {"FCN": {"rank": 8}}, "resistance": {"FCN": {"rank": 10}}}}
    (tmp_path / "done/report/ranking.json").write_text(json.dumps(ranking))
    said = segstress("reproduce", "mad", "--out", "done")
    assert said.code == 0, said.err
    rows = {row["figure"]: row for row in csv.DictReader((tmp_path / "done/published.csv").open())}
    assert float(rows["aggressiveness FCN"]["deviation"]) == -2
    assert rows["aggressiveness PSPNet"]["ours"] == ""
