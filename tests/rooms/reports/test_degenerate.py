"""Reports of runs with little or odd in them: every page is written, and says what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sample_study

from segstress.reports.kit.page import OURS
from segstress.reports.local.page import write_local
from segstress.reports.minimal.page import write_minimal
from segstress.reports.study.report import write
from segstress.results.local import LocalResult
from segstress.results.minimal import MinimalResult
from segstress.results.study import Study
from segstress.testing.studies import failed_study, toy_study, untrue_study

EVIL = "<script>alert(1)</script>"


def local(**changes: object) -> LocalResult:
    counts = toy_study(3).clean["all"][:1]
    zones = {"all": counts, "inside": counts, "outside": counts}
    return replace(LocalResult("m", "d", "fog", 3.0, 0, 0, "box", None, "any", zones, zones), **changes)


def minimal(**changes: object) -> MinimalResult:
    sample = MinimalResult.__dataclass_fields__
    plain = {"str": "m", "float": 0.5, "int": 3, "bool": True}
    values = {name: plain[str(field.type)] for name, field in sample.items()}
    return MinimalResult(**{**values, "norm": "linf", "threshold": "99%", **changes})


def studies(*made: Study) -> Callable[[Path], Path]:
    return lambda folder: write(made, folder, made[0].model)


def scripted(study: Study) -> Study:
    outcomes = tuple(replace(outcome, label=f"{outcome.label} {EVIL}") for outcome in study.outcomes)
    objects = replace(
        study.objects,
        correct={f"{label} {EVIL}": right for label, right in study.objects.correct.items()},
        kept={f"{label} {EVIL}": right for label, right in study.objects.kept.items()},
    )
    frames = tuple(replace(frame, outcome=f"{frame.outcome} {EVIL}") for frame in study.frames)
    words = {"model": EVIL, "data": EVIL, "battery": EVIL, "warnings": (EVIL,), "provenance": {EVIL: EVIL}}
    classes = tuple(f"{name} {EVIL}" for name in study.classes)
    return replace(study, classes=classes, outcomes=outcomes, objects=objects, frames=frames, **words)


nothing = {"all": 0 * toy_study(3).clean["all"]}
CASES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "errors": (studies(failed_study()), "INCOMPLETE"),
    "nan": (studies(untrue_study()), "no image has both a prediction and a truth"),
    "one image": (studies(toy_study(3, images=1)), "all of 1 image answered"),
    "one image, one model more": (studies(toy_study(3, 1), replace(toy_study(3, 1), model="n")), "n on d"),
    "one class": (studies(toy_study(1)), "class 0"),
    "150 classes": (studies(toy_study(150)), "The first 100 of 150 rows"),
    "no attack": (studies(replace(toy_study(3), outcomes=(), threat="")), "nothing was done to them"),
    "scripts": (studies(scripted(sample_study.study(images=6))), "&lt;script&gt;"),
    "local: one image": (lambda folder: write_local(folder, "t", [local()], ()), "1 image, 1 result"),
    "local: nan": (
        lambda folder: write_local(folder, "t", [local(clean=nothing, perturbed=nothing)], ()),
        "Nothing could",
    ),
    "local: script": (lambda folder: write_local(folder, EVIL, [local(model=EVIL, what=EVIL)], ()), "&lt;script&gt;"),
    "minimal: none": (lambda folder: write_minimal([minimal(success=False)], folder, "t", []), "0 of 1 image broken"),
    "minimal: script": (lambda folder: write_minimal([minimal(model=EVIL)], folder, EVIL, []), "&lt;script&gt;"),
}


@pytest.mark.parametrize("name", CASES)
def test_it_renders_and_says_what_is_missing(tmp_path: Path, name: str) -> None:
    make, sentence = CASES[name]
    text = make(tmp_path).read_text()
    assert sentence in text
    assert "failed and is left out" not in text
    assert EVIL not in text
    assert OURS in text
    assert not any(EVIL in path.read_text() for path in tmp_path.rglob("*.svg"))
