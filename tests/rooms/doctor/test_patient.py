"""A model that is fed wrongly, or whose classes have other ids, is told how it would have scored better."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fed import TINT

from segstress.data import load as load_data
from segstress.data import stack
from segstress.doctor import examine, say
from segstress.doctor.patient import judge_patient
from segstress.evaluation import evaluate
from segstress.evaluation.report import report, studies
from segstress.models import load
from segstress.planning import read_plan
from segstress.reports.study.summary import summary
from segstress.runtime import RunOptions

FED = Path(__file__).parent / "fed.py"
DATA = "shapes:val?count=4&size=64"
FEEDINGS = {  # what the network wants -> settings that feed it wrongly, words of the right ones
    "bytes": ("", "RGB, 0..255"),
    "imagenet": ("", "RGB, ImageNet's mean and std"),
    "centred": ("", "RGB, -1..1"),
}
WRONG = {  # settings that feed the plain network wrongly -> words of the right ones
    "&mean=0.485,0.456,0.406&std=0.229,0.224,0.225": "RGB, 0..1 ",
    "&mean=0.9&std=0.2": "RGB, 0..1 ",
    "&scale=255": "RGB, 0..1 ",
}
IDS = {"up": "one lower", "down": "one higher", "ends": "exchanged", "void": "as void"}


def fed(how="plain", settings=""):
    return f"factory:{FED}:network?arguments={{how: {how}}}{settings}"


def look(model):
    (diagnosis,) = examine(read_plan({"models": [model], "data": [DATA], "perturbations": [], "eps": "8/255"}))
    return diagnosis


@pytest.mark.parametrize("wants", FEEDINGS)
def test_a_wrong_feeding_is_named_with_what_the_right_one_would_score(wants):
    settings, words = FEEDINGS[wants]
    first = look(fed(wants, settings)).flags[0]
    assert first.name == "feeding"
    assert words in first.seen
    before, after = map(float, re.findall(r"([\d.]+)%", first.seen))
    assert after > before + 15


@pytest.mark.parametrize("given", [False, True])
def test_channels_that_are_turned_round_are_seen_where_colour_matters(given):
    source, wrong = load_data(DATA), load(fed("tinted", f"&bgr={not given}"))
    batches = [stack([source.read(id_)]) for id_ in source.ids()]
    light = TINT if given is False else TINT.flip(0)
    batches = [replace(batch, images=batch.images * light) for batch in batches]
    first = judge_patient(wrong, batches, source.classes)[0]
    assert "with BGR order (is the channel order right?) it would be" in first.seen
    right = load(fed("tinted", f"&bgr={given}"))
    assert judge_patient(right, batches, source.classes) == []


@pytest.mark.parametrize("settings", WRONG)
def test_settings_of_the_adapter_are_doubted_too(settings):
    first = look(fed("plain", settings)).flags[0]
    assert first.name == "feeding"
    assert re.search(WRONG[settings], first.seen)


@pytest.mark.parametrize("ids", IDS)
def test_other_class_ids_are_named(ids):
    first = look(fed(ids)).flags[0]
    assert first.name == "class-ids"
    assert IDS[ids] in first.seen


@pytest.mark.parametrize("model", [fed(), "compact:cnn-pgd-at-100", "compact:transformer-pgd-at-100"])
def test_what_is_fed_rightly_has_nothing_to_hear(model):
    assert look(model).flags == ()


def test_a_model_that_does_not_see_is_measured_against_one_class_everywhere():
    flags = {flag.name: flag for flag in look(fed("blind")).flags}
    assert set(flags) == {"constant-answer"}
    accuracy, constant = re.findall(r"([\d.]+)%", flags["constant-answer"].seen)
    assert float(accuracy) <= float(constant) + 2


def test_checked_and_unchecked_do_not_look_alike(tmp_path):
    plan = {"models": ["compact:cnn-normal"], "data": ["shapes:val?count=2&size=32"], "eps": "8/255"}
    evaluate({**plan, "perturbations": ["pgd?steps=1"]}, tmp_path / "run", RunOptions(workers=1))
    (study,) = studies([tmp_path / "run"])
    line = "Checked: mode and state, determinism, batch, outputs, gradients, constant answer, feeding, class ids"
    assert study.checkup == (f"{line}: no warnings.",)
    page = report([tmp_path / "run"]).read_text()
    words = line.removeprefix("Checked: ")
    assert f'<dt class="good">Checked</dt><dd>{words}: no warnings.</dd>' in page
    assert summary([study])["runs"][0]["checkup"] == list(study.checkup)
    notes = tmp_path / "run" / "doctor.json"
    (entry,) = json.loads(notes.read_text())["notes"]
    assert entry["passes"] == 12
    notes.unlink()
    (study,) = studies([tmp_path / "run"])
    assert study.checkup[0].startswith("NOT checked: mode and state")
    assert '<dt class="open">NOT checked</dt><dd>mode' in report([tmp_path / "run"]).read_text()


def test_without_attacks_gradients_are_not_checked():
    diagnosis = look("compact:cnn-normal")
    assert diagnosis.unchecked == ("gradients",)
    assert say((list(diagnosis.checked), list(diagnosis.unchecked)), 0)[1] == "NOT checked: gradients."
