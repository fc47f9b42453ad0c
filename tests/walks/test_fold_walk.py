"""`--fold` from the command line: said where it is used, refused in a folder begun without, judged by the model."""

from __future__ import annotations

import json

import torch
from tests.conftest import net

from segstress.data import load as load_data
from segstress.models import load as load_model
from segstress.runtime import Store

SHORT = ("--attack", "fmn-auto?steps=20", "--limit", "2", "--workers", "1", "--keep-images")


def test_folding_is_part_of_the_numerics_and_the_model_judges(segstress, tmp_path):
    words = ("minimal", "--model", "compact:cnn-normal", "--data", "shapes:test?size=32", *SHORT, "--out", "run")
    assert segstress(*words, "--fold").code == 0
    assert json.loads((tmp_path / "run" / "environment.json").read_text())["numerics"]["fold"] is True
    refused = segstress(*words)
    assert (refused.code, "fold True -> False" in refused.err) == (2, True)
    store, model, data = Store(tmp_path / "run"), load_model("compact:cnn-normal"), load_data("shapes:test?size=32")
    cell = next(cell for cell in store.cells() if cell.perturbation["kind"] == "attack")
    kept = store.arrays(cell, "kept")
    for row in store.table(cell, "images").to_pylist():
        sample = data.read(row["image"])
        seen = model(torch.from_numpy(kept[f"{row['goal']}|{row['image']}"])[None]).argmax(1)[0]
        assert row["won_pixels"] == int((seen != sample.labels)[sample.valid].sum())


def test_a_model_without_batchnorm_is_told_of(segstress):
    said = segstress("minimal", "--model", net("tiny"), "--data", "shapes:test?size=32", *SHORT, "--fold")
    assert said.code == 0
    assert sum("BatchNorm is not folded" in line for line in said.out.splitlines()) == 1


def test_a_model_that_raises_on_an_image_is_told_of_and_goes_on(segstress):
    said = segstress("minimal", "--model", net("raising"), "--data", "shapes:test?size=32", *SHORT, "--fold")
    assert said.code == 1
    assert "too bright for me" in said.out + said.err
