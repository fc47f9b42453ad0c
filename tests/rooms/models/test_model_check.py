"""`segstress models check` says all that is to be known of a model before it is put into a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import yaml
from tests.conftest import net
from tests.nets import Tiny

from segstress import models

DATA = "shapes:test?count=3&size=48"


def test_a_sound_model_with_its_loading_report(segstress: Any, tmp_path: Path) -> None:
    weights = {f"old.{name}": tensor for name, tensor in Tiny().state_dict().items()}
    torch.save({"state_dict": weights | {"aux.weight": torch.zeros(1)}}, tmp_path / "mine.pth")
    spec = f"{net('tiny')}?weights=mine.pth&rename=old.:&pad=16&scale=255&mean=127.5&std=51"
    said = segstress("models", "check", spec, "--data", DATA)
    out = " ".join(said.out.split())
    for name in Tiny().state_dict():
        assert f"used {name} (was old.{name})" in out
    assert "left out aux.weight" in out
    for words in ("minus 127.5, divided by 51", "-2.5 to 2.5", "filled up to multiples of 16", "7, the data has 7"):
        assert words in out
    entry = yaml.safe_load(said.out.partition("In the plan:")[2])["models"]
    assert models.models.build(entry[0]) == models.models.build(spec)
    assert set(entry[0]) == {"kind", "function", "weights", "rename", "pad", "scale", "mean", "std"}


def test_json_and_exit_codes(segstress: Any) -> None:
    said = segstress("models", "check", "compact:cnn-normal", "--data", DATA, "--images", 1, "--json")
    found = json.loads(said.out)
    assert said.code == (0 if found["sound"] else 1)
    assert found["gradient_finite"]
    assert found["gradient_share"] > 0.9
    assert (found["classes"], found["data_classes"], found["faults"]) == (7, 7, [])
    assert 0 < found["forward"]["seconds"] < found["backward"]["seconds"]
    assert 0 < found["loading_bytes"] <= found["forward"]["peak_bytes"] <= found["backward"]["peak_bytes"]
    assert len(found["weights"][0]["used"]) > 50
    assert yaml.safe_load(found["plan"]) == {"models": [{"kind": "compact", "name": "cnn-normal"}]}
    assert "answered too" in found["sizes"]


def test_what_speaks_against_a_model_is_exit_code_1(segstress: Any) -> None:
    said = segstress("models", "check", net("tiny") + "?classes=5", "--data", DATA)
    assert said.code == 1
    assert "THEY DIFFER" in said.out
    assert "gives 5 classes, the data has 7" in said.out
    said = segstress("models", "check", net("flat"), "--data", DATA)
    assert said.code == 1
    assert "not zero at 0.0%" in said.out
    assert "no-gradient:" in said.out


def test_what_cannot_be_tried_is_exit_code_2_and_one_line(segstress: Any) -> None:
    for spec, fault in (
        (net("failing"), "fails on an image (3, 48, 48): ValueError"),
        ("compact:cn", "unknown compact"),
    ):
        said = segstress("models", "check", spec, "--data", DATA)
        assert said.code == 2
        assert fault in said.err
        assert said.err.count("\n") == 1


def test_listing_still_works(segstress: Any) -> None:
    assert "exported" in segstress("list", "models").out
