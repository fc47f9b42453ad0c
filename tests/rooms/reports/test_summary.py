"""The JSON of `report --json`: its shape, and figures worked out by hand."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import sample_study

from segstress.reports.study.summary import summary
from segstress.results.study import Study

MAIN = {"accuracy", "accuracy_image_mean", "cmiou", "nmiou"}
FOREGROUND = {f"{name}_foreground" for name in (*MAIN, "nmiou_zero")}
FIGURES = MAIN | FOREGROUND | {"mean_accuracy", "fwiou", "nmiou_truth"}
AROUND = {f"cmiou_{word}{suffix}" for word in ("selected", "bound") for suffix in ("", "_foreground")}


def run(study: Study) -> dict:
    (only,) = json.loads(json.dumps(summary([study]), allow_nan=False))["runs"]
    return only


def test_shape(real: Study) -> None:
    found = run(real)
    assert {"model", "data", "eps", "clean", "perturbations", "worst_case", "definitions"} <= set(found)
    assert set(found["constant"]) == FIGURES | {"class"}
    assert list(found["leave_one_out"]) == list(found["perturbations"])
    assert found["caveats"] == []
    assert (found["model"], found["data"], found["eps"]) == ("cnn-normal", "shapes:test", 8 / 255)
    assert set(found["clean"]) == FIGURES
    assert set(found["worst_case"]) == set(found["definitions"]) == FIGURES | AROUND
    assert list(found["perturbations"]) == [outcome.label for outcome in real.outcomes]
    for figures in found["perturbations"].values():
        assert set(figures) == FIGURES | {"forwards", "backwards", "images", "errors"}
    assert all(0 <= value <= 1 for value in [*found["clean"].values(), *found["worst_case"].values()])
    assert found["definitions"]["nmiou"].startswith("NmIoU[absent=present, void=255, background=in]")
    assert "absent=truth" in found["definitions"]["nmiou_truth"]
    assert "background=out" in found["definitions"]["cmiou_foreground"]


def test_clean_figures_by_hand(tiny: Study) -> None:
    clean = run(tiny)["clean"]
    assert clean["accuracy"] == pytest.approx(18 / 20)
    assert clean["cmiou"] == pytest.approx((8 / 10 + 10 / 12) / 2)
    assert clean["nmiou"] == pytest.approx((1 + (2 / 4 + 6 / 8) / 2) / 2)
    assert clean["mean_accuracy"] == pytest.approx((8 / 8 + 10 / 12) / 2)


def test_a_perturbation_is_scored_on_the_images_it_answered_and_each_figure_by_its_own_goal(tiny: Study) -> None:
    x = run(tiny)["perturbations"]["x"]
    assert x["accuracy"] == pytest.approx(2 / 10)
    assert x["nmiou"] == pytest.approx((0 / 6 + 4 / 10) / 2)
    assert (x["images"], x["errors"]) == (1, 1)
    assert (x["forwards"], x["backwards"]) == (3 + 1, 2 + 0)


def test_worst_case_by_hand(tiny: Study) -> None:
    worst = run(tiny)["worst_case"]
    assert worst["accuracy"] == pytest.approx((2 + 4) / 20)
    assert worst["nmiou"] == pytest.approx((0.2 + (0 / 6 + 4 / 10) / 2) / 2)


def test_worst_cmiou_is_the_lowest_of_all_choices_and_not_that_of_the_image_minima() -> None:
    study = sample_study.study(images=6, scale=0.6)
    counts = np.stack([study.clean["all"], *(outcome.counts["miou", "all"] for outcome in study.outcomes)])
    answered = np.stack([study.clean_answered, *(outcome.answered for outcome in study.outcomes)])
    options = [np.flatnonzero(column) for column in answered.T]
    pooled = []
    for choice in itertools.product(*options):
        hits, predicted, actual = counts[choice, range(6)].sum(0).T
        union = predicted + actual - hits
        pooled.append((hits[union > 0] / union[union > 0]).mean())
    worst = run(study)["worst_case"]
    assert worst["cmiou"] == pytest.approx(min(pooled))
    assert worst["cmiou_selected"] > worst["cmiou"]


def test_worst_case_is_below_every_candidate_and_above_its_bound(real: Study) -> None:
    found = run(replace(real, outcomes=tuple(outcome for outcome in real.outcomes if outcome.answered.all())))
    worst = found["worst_case"]
    candidates = [found["clean"], *found["perturbations"].values()]
    for figure in MAIN | FOREGROUND:
        assert worst[figure] <= min(candidate[figure] for candidate in candidates) + 1e-12
    for suffix in ("", "_foreground"):
        assert worst[f"cmiou_bound{suffix}"] <= worst[f"cmiou{suffix}"] <= worst[f"cmiou_selected{suffix}"]


def test_one_class_everywhere_by_hand(tiny: Study) -> None:
    constant = run(tiny)["constant"]
    assert constant["class"] == "b"
    assert constant["accuracy"] == pytest.approx(12 / 20)
    assert constant["cmiou"] == pytest.approx((0 + 12 / 20) / 2)
    assert constant["nmiou"] == pytest.approx(((0 + 4 / 10) / 2 + (0 + 8 / 10) / 2) / 2)
    assert constant["accuracy_foreground"] is None


def test_leave_one_out_by_hand(tiny: Study) -> None:
    found = run(tiny)["leave_one_out"]
    assert found["x"]["accuracy"] == pytest.approx((5 + 4) / 20 - 6 / 20)
    assert found["y"]["accuracy"] == pytest.approx((2 + 8) / 20 - 6 / 20)
    assert found["y"]["nmiou"] == pytest.approx((0.625 - 0.2) / 2)


def test_pairs_are_models_on_the_same_images_under_the_same_threat(tiny: Study) -> None:
    sturdy = replace(tiny, model="n", outcomes=tiny.outcomes[1:])
    (pair,) = summary([tiny, sturdy, replace(sturdy, model="o", ids=("first", "third"))])["pairs"]
    assert (pair["first"], pair["second"], pair["images"]) == ("m", "n", 2)
    assert pair["accuracy"]["value"] == pytest.approx((2 + 4) / 20 - (5 + 4) / 20)
    assert (pair["accuracy"]["low"], pair["accuracy"]["high"]) == (-1, 1)  # two images say little
    assert summary([tiny, tiny])["pairs"] == []


def test_without_a_background_class_foreground_figures_are_null(tiny: Study) -> None:
    found = run(tiny)
    figures = FOREGROUND | {"cmiou_selected_foreground", "cmiou_bound_foreground"}
    assert {found["worst_case"][figure] for figure in figures} == {None}
    assert found["clean"]["nmiou_foreground"] is None


def test_foreground_leaves_out_the_background_class_and_its_pixels(real: Study) -> None:
    hits, predicted, actual = real.clean["foreground"][:, 1:].sum(0).T
    clean = run(real)["clean"]
    assert clean["accuracy_foreground"] == pytest.approx(hits.sum() / actual.sum())
    assert clean["cmiou_foreground"] == pytest.approx(np.mean(hits / (predicted + actual - hits)))


def test_an_image_without_clean_prediction_counts_nowhere(tiny: Study) -> None:
    kept = tiny.clean["all"] * np.array([1, 0])[:, None, None]
    found = run(replace(tiny, clean={"all": kept}, clean_answered=np.array([True, False])))
    assert found["clean"]["accuracy"] == 1
    assert found["perturbations"]["y"]["accuracy"] == pytest.approx(5 / 10)
    assert found["worst_case"]["accuracy"] == pytest.approx(2 / 10)


def test_where_nothing_answered_everything_is_null(tiny: Study) -> None:
    nobody = np.array([False, False])
    lost = tuple(replace(outcome, answered=nobody, counts={}, goals=("any",)) for outcome in tiny.outcomes)
    found = run(replace(tiny, clean={}, clean_answered=nobody, outcomes=lost, eps=float("inf")))
    assert found["eps"] is None
    assert set(found["clean"].values()) == set(found["worst_case"].values()) == {None}
