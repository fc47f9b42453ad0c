"""Each planted fault raises its own flag first, and others only where they follow from it; a sound model none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from segstress.core import BadInput
from segstress.doctor import doubt, examination, examine
from segstress.evaluation import evaluate
from segstress.evaluation.checkup import check_up
from segstress.evaluation.report import studies
from segstress.evaluation.verify import verify
from segstress.models import load
from segstress.planning import read_plan
from segstress.runtime import Progress, RunOptions

PLANTED = Path(__file__).parent / "planted.py"
DATA = "shapes:test?count=2&size=64"
SMALL = "shapes:test?count=2&size=32"
ALONE = RunOptions(workers=1)


def planted(kind):
    return f"factory:{PLANTED}:plant?arguments={{kind: {kind}}}"


def asked(model, *attacks, **changes):
    return {"models": [model], "data": [SMALL], "perturbations": list(attacks), "eps": "8/255", **changes}


def names(diagnoses):
    (diagnosis,) = diagnoses
    return [flag.name for flag in diagnosis.flags]


FAULTS = {  # fault -> its own flag, and those that follow from it
    "Soft": ("probabilities", set()),
    "Logarithm": ("log-probabilities", set()),
    "Squashed": ("sigmoid", set()),
    "OneHot": ("one-hot", {"no-gradient"}),
    "Dropping": ("stochastic", set()),
    "Waking": ("train-mode", set()),
    "Purifying": ("test-time-optimisation", set()),
    "Counting": ("test-time-optimisation", set()),
    "Drifting": ("test-time-optimisation", {"stochastic"}),
    "Company": ("company", set()),
    "Rounding": ("no-gradient", set()),
    "HalfBlind": ("zero-gradient", set()),
    "Loud": ("saturated", set()),
    "WantsBytes": ("feeding", {"constant-answer"}),
    "WantsNormalised": ("feeding", {"constant-answer"}),
    "Overflowing": ("not-finite", set()),
    "Raising": ("fails", set()),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found_and_named_first(fault):
    own, consequences = FAULTS[fault]
    first, *others = names(examine(read_plan(asked(planted(fault), "pgd", data=[DATA]))))
    assert first == own
    assert set(others) <= consequences


@pytest.mark.parametrize("model", ["compact:cnn-normal", "compact:transformer-normal", planted("Sound")])
def test_a_sound_model_passes_the_cheap_checks(model):
    assert names(examine(read_plan(asked(model, "pgd", data=[DATA])))) == []


def test_the_cheap_checks_keep_to_a_dozen_passes_and_count_them(monkeypatch):
    seen = []
    monkeypatch.setattr(examination, "ready", lambda *_: (_counted(seen), ""))
    (diagnosis,) = examine(read_plan(asked("compact:cnn-normal", "pgd", data=[DATA])))
    assert diagnosis.passes == sum(seen) == 2 * 5 + 2  # two of them in one batch, then one an image


def _counted(seen):
    model = load("compact:cnn-normal")
    model.register_forward_hook(lambda _, inputs, output: seen.append(len(inputs[0])))
    return model


def test_without_attacks_gradients_are_nobodys_business():
    assert names(examine(read_plan(asked(planted("Rounding"))))) == []


class TestTrial:
    def test_a_sound_model_has_nothing_to_object(self):
        assert names(check_up(models=["compact:cnn-normal"], data=[SMALL])) == []

    def test_gradients_that_mislead_lose_to_an_attack_without(self):
        first, *others = names(check_up(models=[planted("Misleading")], data=[SMALL]))
        assert first == "black-box"
        assert set(others) <= {"large-radius"}

    def test_a_prediction_that_never_moves_is_suspicious(self):
        assert names(check_up(models=[planted("Stubborn")], data=[SMALL])) == ["constant-answer", "large-radius"]

    def test_no_trial_where_it_would_mean_nothing(self):
        assert names(check_up(models=[planted("Rounding")], data=[SMALL])) == ["no-gradient"]


class TestRun:
    def test_harm_between_grey_levels_is_lost_and_the_report_says_so(self, tmp_path):
        told = {}
        for kind in ("FineGrained", "Sound"):
            warned = told[kind] = []
            plan = asked(planted(kind), "pgd?steps=8", eps="2/255")
            evaluate(plan, tmp_path / kind, ALONE, Progress(warn=warned.append))
        (line,) = (line for line in told["FineGrained"] if "8-bit" in line)
        assert "pgd(steps=8) linf 2/255" in line
        assert not any("8-bit" in line for line in told["Sound"])
        assert sum("8-bit" in warning for warning in studies([tmp_path / "FineGrained"])[0].warnings) == 1

    def test_flags_from_before_the_run_are_in_its_report(self, tmp_path):
        evaluate(asked(planted("Soft"), "pgd?steps=2"), tmp_path / "run", ALONE)
        (study,) = studies([tmp_path / "run"])
        assert sum("probabilities, not logits" in warning for warning in study.warnings) == 1

    def test_a_random_model_needs_attacks_that_average(self, tmp_path):
        with pytest.raises(BadInput, match="draws=10"):
            evaluate(asked(planted("Dropping"), "pgd?steps=2"), tmp_path / "refused", ALONE)
        runs = []
        for name in ("one", "two"):
            torch.manual_seed(len(runs))
            evaluate(asked(planted("Dropping"), "pgd?steps=2&draws=3"), tmp_path / name, ALONE)
            runs.append(studies([tmp_path / name])[0])
        (first,), (second,) = (study.outcomes for study in runs)
        assert first.label == "pgd(steps=2) of 3 draws"
        assert first.rows.passes() == (2 * 3 * 4, 2 * 3 * 2)
        assert any("random" in warning for warning in runs[0].warnings)
        assert all((first.counts[key] == second.counts[key]).all() for key in first.counts)
        assert all(verdict.sound for verdict in verify(tmp_path / "one"))

    def test_without_gradients_black_boxes_may_still_attack(self, tmp_path):
        with pytest.raises(BadInput, match="gradient"):
            evaluate(asked(planted("Rounding"), "pgd?steps=2"), tmp_path / "refused", ALONE)
        run = evaluate(asked(planted("Rounding"), "dla?steps=2"), tmp_path / "run", ALONE)
        assert run.errors == ()


class TestResults:
    def warnings(self, tmp_path, model, *attacks, **changes):
        evaluate(asked(model, *attacks, **changes), tmp_path / "run", ALONE)
        return [warning for study in studies([tmp_path / "run"]) for warning in study.warnings]

    def test_steps_that_still_help_are_too_few(self, tmp_path):
        creeping = [f"pgd?steps={steps}&step=0.05/255&random_start=false" for steps in (20, 40)]
        (warning,) = self.warnings(tmp_path, "compact:cnn-normal", *creeping, eps="4/255")
        assert "not converged" in warning

    def test_a_transfer_that_beats_gradients_is_suspicious(self, tmp_path):
        evaluate(asked(planted("Sound"), "pgd?steps=8"), tmp_path / "source", ALONE)
        (warning,) = self.warnings(tmp_path, planted("Misleading"), "pgd?steps=8", f"transfer:{tmp_path / 'source'}")
        assert warning.startswith("transfer(")
        assert "no gradient" in warning

    def test_an_attack_in_a_region_need_not_leave_nothing(self, tmp_path):
        local = {"attack": "pgd", "steps": 4, "region": {"kind": "box", "height": 8, "width": 8}}
        assert self.warnings(tmp_path, "compact:cnn-normal", local, eps="128/255") == []

    def test_a_constant_radius_should_not_beat_a_shrinking_one(self, tmp_path):
        pair = [f"progressive-jsd?steps=2&progressive={shrinking}" for shrinking in ("true", "false")]
        plan = read_plan(asked("compact:cnn-normal", *pair, eps="4/255"))
        evaluate(plan, tmp_path / "run", ALONE)
        (study,) = studies([tmp_path / "run"])
        shrinking, constant = study.outcomes
        assert doubt(study, plan.changes()) == []
        harmless = replace(shrinking, counts={("accuracy", "all"): study.clean["all"]})
        masked = replace(study, outcomes=(harmless, constant))
        assert [flag.name for flag in doubt(masked, plan.changes())] == ["radius-schedule"]

    def test_attacks_that_differ_in_their_steps_alone_should_not_each_miss_what_the_other_finds(self, tmp_path):
        pair = ["annealed-error?steps=2&longest=0.5", "annealed-error?steps=3"]
        plan = read_plan(asked("compact:cnn-pgd-at-100", *pair, eps="4/255"))
        evaluate(plan, tmp_path / "run", ALONE)
        (study,) = studies([tmp_path / "run"])
        short, long = study.outcomes
        assert doubt(study, plan.changes()) == []
        right = study.clean["all"]
        halves = [right // ((np.arange(len(right)) % 2 == which) * 3 + 1)[:, None, None] for which in (0, 1)]
        apart = replace(study, outcomes=tuple(map(_with_counts, (short, long), halves)))
        assert [flag.name for flag in doubt(apart, plan.changes())] == ["step-length"]
        alike = replace(study, outcomes=tuple(map(_with_counts, (short, long), (right // 4, right))))
        assert doubt(alike, plan.changes()) == [], "one of the two finds all that there is"


def _with_counts(outcome, counts):
    return replace(outcome, counts={("accuracy", "all"): counts})


def test_command_line_prints_flags_and_leaves_with_one(segstress):
    said = segstress("doctor", "--model", planted("Soft"), "--data", DATA, "--quick")
    assert said.code == 1
    for word in ("probabilities", "seen:", "why it matters:", "what to do:"):
        assert word in said.out
    fine = segstress("doctor", "--model", "compact:cnn-normal", "--data", DATA, "--quick")
    assert (fine.code, "no warnings" in fine.out) == (0, True)
