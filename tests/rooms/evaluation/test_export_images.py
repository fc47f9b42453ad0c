"""Kept images as files: exact where the format can be, rounded and said so where it cannot."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from PIL import Image
from tests.conftest import net

from segstress.evaluation import evaluate
from segstress.results.run import Run
from segstress.runtime import RunOptions

PLAN = {"models": [net("tiny")], "data": ["shapes:test?count=2&size=16"], "perturbations": ["pgd?steps=2"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept") / "run"
    evaluate({**PLAN, "eps": "8/255"}, folder, RunOptions(workers=1))
    return folder


def rows(out: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((out / "images.csv").open()))


def kept(run: Path) -> dict[tuple[str, str], np.ndarray]:
    reader = Run(run)
    (cell,) = (cell for cell in reader.cells if cell.perturbation["kind"] == "attack")
    images, _ = reader.pictures(cell, reader.kept(cell))
    return {tuple(key.split("|", 1)): image for key, image in images.items()}


READ = {
    "npy": lambda path: np.load(path).transpose(2, 0, 1),
    "safetensors": lambda path: safetensors.numpy.load_file(path)["image"],
    "png": lambda path: np.asarray(Image.open(path), dtype=np.float32).transpose(2, 0, 1) / 255,
}


@pytest.mark.parametrize("format", READ)
def test_every_kept_image_is_a_file_that_the_table_names(segstress, run: Path, format: str) -> None:
    said = segstress("export", "images", run, "--out", "out", "--format", format)
    assert said.code == 0, said.err
    assert ("8 bits" in said.out) == (format == "png")
    images = kept(run)
    assert {(row["goal"], row["image"]) for row in rows(Path("out"))} == set(images)
    for row in rows(Path("out")):
        assert row["perturbation"].startswith("pgd")
        assert row["bits"] == ("8" if format == "png" else "32")
        found = READ[format](Path("out") / row["file"])
        most = 0.5 / 255 + 1e-6 if format == "png" else 0
        assert np.abs(found - images[row["goal"], row["image"]]).max() <= most


def test_score_takes_them_back(segstress, run: Path) -> None:
    segstress("export", "images", run, "--out", "out", "--format", "npy")
    folder = (Path("out") / rows(Path("out"))[0]["file"].split("/")[0]) / "accuracy"
    words = ("--model", PLAN["models"][0], "--data", PLAN["data"][0], "--eps", "8/255", "--workers", 1)
    said = segstress("score", "--images", folder, *words)
    assert said.code == 0, said.err


def test_a_damaged_run_is_refused(segstress, tmp_path: Path) -> None:
    evaluate({**PLAN, "eps": "8/255"}, tmp_path / "run", RunOptions(workers=1))
    next((tmp_path / "run").glob("cells/*pgd*/kept-*.zst")).unlink()
    said = segstress("export", "images", tmp_path / "run", "--out", "out")
    assert said.code == 2
    assert len(said.err.splitlines()) == 1
    assert not Path("out").exists()
