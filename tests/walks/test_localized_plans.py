"""The packaged plans of localized damage, as people would run them on Cityscapes and on the shapes."""

from __future__ import annotations

import csv
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tests.conftest import net
from tests.nets import Tiny

from segstress.core import perturbations
from segstress.corruptions import Corrupt
from segstress.data.cityscapes import TRAINED
from segstress.planning.spatial import spatial_battery
from segstress.results.run import Run

PLANS = [path.name for path in files("segstress").joinpath("plans/batteries/spatial").iterdir()]
HEIGHT, WIDTH = 48, 416  # native; at half size a square of 200 pixels still leaves a strip outside of it


@pytest.fixture(scope="module")
def streets(tmp_path_factory):
    """Two images in the layout of Cityscapes, labelled as a tiny network sees them, with a void border."""
    root = tmp_path_factory.mktemp("cityscapes")
    generator, model = np.random.default_rng(0), Tiny(19)
    for folder in ("leftImg8bit", "gtFine"):
        (root / folder / "val" / "ulm").mkdir(parents=True)
    for number in range(2):
        blocks = generator.integers(0, 256, (HEIGHT // 8, WIDTH // 8, 3), dtype=np.uint8)
        image = blocks.repeat(8, axis=0).repeat(8, axis=1)
        with torch.no_grad():
            seen = model(torch.from_numpy(image).permute(2, 0, 1)[None] / 255).argmax(1)[0].numpy()
        ids = np.array(list(TRAINED), dtype=np.uint8)[seen]
        ids[:2] = 0
        name = f"val/ulm/ulm_{number}"
        Image.fromarray(image).save(root / "leftImg8bit" / f"{name}_leftImg8bit.png")
        Image.fromarray(ids).save(root / "gtFine" / f"{name}_gtFine_labelIds.png")
    return f"cityscapes:{root}?resize=24x208"


@pytest.fixture
def brief(tmp_path):
    """A packaged plan with a tenth of its steps, as a file."""

    def write(name):
        text = files("segstress").joinpath(f"plans/batteries/spatial/{name}.yaml").read_text()
        path = tmp_path / f"{name}.yaml"
        path.write_text(re.sub(r"(steps: \d+)0\b", r"\1", text))
        return path

    return write


def scores(tmp_path, name):
    with (tmp_path / "runs" / name / "spatial" / "tables" / "scores.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["figure"] == "accuracy"]


RUN = ("--limit", "1", "--workers", "1")
MODEL = f"{net('tiny')}?classes=19"


def test_localized_on_cityscapes(segstress, tmp_path, streets):
    said = segstress("spatial", "--model", MODEL, "--data", streets, "--battery", "localized", *RUN)
    assert said.code == 0, said.err
    rows = scores(tmp_path, "spatial")
    assert len(rows) == 9 + 10
    damaged = [row for row in rows if row["severity"] == "3" and not row["region"].startswith("0.5")]
    assert all(float(row["rce_inside"]) > 0 for row in damaged)
    whole = [row for row in rows if row["region"].startswith("1 of")]
    assert {(row["rce_outside"], row["empty_outside"]) for row in whole} == {("", "1")}


@pytest.mark.slow
def test_multi_attack_on_cityscapes(segstress, tmp_path, streets, brief):
    plan = brief("multi-attack")
    said = segstress("multi-attack", "--model", MODEL, "--data", streets, "--battery", plan, *RUN)
    assert said.code == 0, said.err
    assert "200 x 200 pixels do not fit into 24 x 208, so they are cut" in said.out.replace("\n", "")
    figures = {path.stem for path in (tmp_path / "runs" / "multi-attack" / "spatial" / "figures").iterdir()}
    assert figures == {"attacks", "steps", "side", "eps", "placements"}
    rows = scores(tmp_path, "multi-attack")
    assert len(rows) == 2 * (10 * 3 + 5)
    assert max(float(row["rce_outside"]) for row in rows) > 0


@pytest.mark.slow
def test_ensemble_on_cityscapes(segstress, tmp_path, streets, brief):
    members = (MODEL, f"{net('blurred')}?classes=19")
    plan = brief("ensemble")
    said = segstress("ensemble", *members, "--data", streets, "--battery", plan, "--weights", "0,0.5,1", *RUN)
    assert said.code == 0, said.err
    with (tmp_path / "runs" / "ensemble" / "spatial" / "tables" / "ensemble.csv").open() as file:
        steps = list(csv.DictReader(file))
    assert [float(step["weight"]) for step in steps] == [0, 0.5, 1]
    assert (float(steps[0]["ce_nat"]), float(steps[-1]["ce_adv"])) == (0, 0)
    assert float(steps[-1]["ce_nat"]) != 0


def test_a_mixture_is_measured_by_the_patches_that_are_asked_for(segstress, tmp_path):
    said = segstress(
        *("ensemble", f"{net('tiny')}?classes=7", f"{net('blurred')}?classes=7", "--weights", "0,1", "--corruption"),
        *("snow", "--patch", "8", "--mode", "bernoulli", "--apply", "patches", "--box", "8", "--number", "1"),
        *("--steps", "1", "--data", "shapes:test?count=1&size=32", "--workers", "1"),
    )
    assert said.code == 0, said.err
    plan = Run(tmp_path / "runs/ensemble").plan
    (snow,) = (change for change in plan.changes() if isinstance(change, Corrupt))
    assert (snow.region.mode, snow.apply) == ("bernoulli", "patches")


@pytest.mark.parametrize("name", [path.stem for path in map(Path, PLANS)])
def test_packaged_plans_can_be_built(name):
    assert all(perturbations.build(spec).label for spec in spatial_battery(name))
