"""A claim's verdict follows its figures, whichever way they come out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from tests.rooms.reports import sample_study

from segstress.core import BadInput
from segstress.demo.claims import Evidence, claims
from segstress.demo.claims.runs import BATTERY, CLEAN, NO_GRAIN, SEEDS, TRAINING_ATTACK, TWIN
from segstress.reports.findings.page import Answer, Check
from segstress.reports.study.assessment import assess
from segstress.results.minimal import MinimalResult


class Planted(Evidence):
    """Evidence that was never measured."""

    def __init__(self, assessments=None, minimal=(), local=(), ranking=None) -> None:
        self._found = SimpleNamespace(
            assessments=assessments, minimal=list(minimal), local=list(local), ranking=ranking
        )

    def assessments(self, need):
        return self._found.assessments[need.name]

    def minimal(self, need):
        return self._found.minimal

    def local(self, need):
        return self._found.local

    def ranking(self, need):
        return self._found.ranking


def judge(name: str, **planted) -> Answer:
    return claims.build(name).answer(Planted(**planted))


@cache
def model(name: str, scale: float, seed: int = 7, images: int = 24):
    """An assessed model; a smaller scale is a sturdier one. The attack that fails on an image is left out."""
    study = sample_study.study(name, images=images, scale=scale, seed=seed)
    fine = tuple(outcome for outcome in study.outcomes if outcome.label != sample_study.FAILING)
    return assess(replace(study, outcomes=fine))


def test_claim_1_is_seen_only_where_half_falls_and_whole_stands(monkeypatch):
    names = {"cnn-normal": 0.0, "cnn-pgd-at-50": 0.5, "cnn-pgd-at-100": 1.0, TWIN: 0.5}
    monkeypatch.setattr("segstress.demo.claims.half.share", names.__getitem__)

    def answer(half: float, whole: float) -> Answer:
        scales = {"cnn-normal": 1.4, "cnn-pgd-at-50": half, "cnn-pgd-at-100": whole}
        battery = {name: model(name, scale) for name, scale in scales.items()}
        short = {name: model(name, 0.03) for name in scales}
        found = {BATTERY.name: battery, TRAINING_ATTACK.name: short, NO_GRAIN.name: {TWIN: model(TWIN, 0.2)}}
        return judge("1-half-is-not-enough", assessments=found)

    fell, stood = answer(half=3.0, whole=0.03), answer(half=0.03, whole=0.03)
    assert fell.checks[0].holds
    assert not stood.checks[0].holds
    assert fell.checks[1].holds
    assert not answer(half=3.0, whole=3.0).checks[1].holds
    assert not fell.checks[2].holds  # the clean predictions are the same, so nothing was paid
    assert fell.checks[3].holds
    assert fell.verdict == "seen in part: 3 of 4 checks hold"


def test_claim_2_wants_more_than_the_strongest_attack():
    several = {"a": model("a", 0.6, images=96), "b": model("b", 0.9, seed=3, images=96)}
    (first, _, same, _) = judge("2-aggregate", assessments={BATTERY.name: several}).checks
    assert first.holds
    assert not same.holds  # both fall to segpgd
    single = {name: assess(replace(found.study, outcomes=found.study.outcomes[:1])) for name, found in several.items()}
    assert judge("2-aggregate", assessments={BATTERY.name: single}).verdict == "not seen"


def test_claim_3_follows_the_objects():
    """All of the large objects stand, and nothing of the small ones; then the other way round."""
    found = model("a", 0.6)
    objects = found.study.objects
    for large in (True, False):
        stand = (objects.area > np.median(objects.area)) == large
        kept = {label: np.where(stand, objects.clean, 0) for label in objects.kept}
        turned = replace(found, study=replace(found.study, objects=replace(objects, kept=kept)))
        assert judge("3-small-objects", assessments={BATTERY.name: {"a": turned}}).checks[0].holds == large


def find(name: str, attack: str, image: int, size: float) -> MinimalResult:
    """A success; what is not told is of no account here, and as large as the delta."""
    told = {"model": name, "data": "shapes", "attack": attack, "norm": "linf", "threshold": "99%", "success": True}
    told |= {"image": f"{image:02d}", "longest": 1.0}
    return MinimalResult(**{part: told.get(part, size) for part in MinimalResult.__dataclass_fields__})


@pytest.mark.parametrize(("half", "seen"), [(1.3, True), (6.0, False)])
def test_claim_4_compares_factors(half, seen):
    generator = np.random.default_rng(0)
    radii = {"cnn-normal": 1.0, "cnn-pgd-at-50": half, "cnn-pgd-at-100": 8.0}
    minimal = [
        find(name, attack, image, radius / 255 * generator.uniform(0.8, 1.25))
        for name, radius in radii.items()
        for attack in ("fmn-auto", "ddn-auto")
        for image in range(12)
    ]
    assert judge("4-minimum-perturbations", minimal=minimal).checks[0].holds == seen


def spot(name: str, what: str, lost: float, generator: np.random.Generator):
    """100 pixels of one class in each of 12 images, of which about that share is lost."""
    clean = np.tile([[95, 95, 100]], (12, 1, 1))
    left = clean.copy()
    left[:, 0, :2] -= generator.integers(0, 3, 12)[:, None] + round(100 * lost)
    zones = {"clean": {"all": clean}, "perturbed": {"all": left}}
    return SimpleNamespace(model=name, what=what, steps=50 * (what == "pgd"), goal="any", **zones)


@pytest.mark.parametrize(("third", "seen"), [(0.3, True), (0.1, False)])
def test_claim_5_must_hold_on_every_seed(third, seen):
    generator = np.random.default_rng(1)
    local = []
    for place, seed in enumerate(SEEDS):
        noise = third if place == 2 else 0.3
        for name, corrupted, attacked in (("cnn-normal", noise, 0.2), ("transformer-normal", 0.2, 0.4)):
            local.append(spot(name + seed, "noise", corrupted, generator))
            local.append(spot(name + seed, "pgd", attacked, generator))
    assert judge("5-localized-damage", local=local).checks[0].holds == seen


@pytest.mark.parametrize(("strengths", "seen"), [((1.0, -1.0), False), ((-1.0, 1.0), True), ((-0.1, 0.1), False)])
def test_claim_6_wants_a_sure_reversal(strengths, seen):
    better, worse = model("better", 0.5), model("worse", 0.5)
    harmed = worse.study.outcomes[0].counts["miou", "all"]
    worse = assess(replace(worse.study, clean={**worse.study.clean, "all": harmed}))
    found = {
        name: {"strength": strength, "interval": [strength - 0.5, strength + 0.5], "rank": 1, "band": [1, 2]}
        for name, strength in zip(("better", "worse"), strengths, strict=True)
    }
    ranking = {"models": list(found), "rankings": {"aggressiveness": found}}
    answer = judge("6-competition", assessments={CLEAN.name: {"better": better, "worse": worse}}, ranking=ranking)
    assert answer.checks[0].holds == seen


def test_a_verdict_counts_checks():
    yes, no = Check("a", "b", True), Check("a", "b", False)
    assert [Answer(checks, (), ()).verdict for checks in ((yes, yes), (yes, no), (no,))] == [
        "seen",
        "seen in part: 1 of 2 checks hold",
        "not seen",
    ]


def test_an_unknown_claim_is_named():
    with pytest.raises(BadInput, match="did you mean '6-competition'"):
        claims.build("6-competitions")
