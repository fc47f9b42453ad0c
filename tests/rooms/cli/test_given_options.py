"""What is given beside a plan counts, what is not stays as the plan has it; what cannot count is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import segstress.demo.demonstration as demonstration
from segstress.planning import Plan, read_plan
from segstress.planning.papers import named_plan

MODEL, DATA = "compact:cnn-normal", "shapes:test?count=2&size=16"
NUMERICS = {"threads": 2, "batch_size": 2, "dtype": "float64"}
PLAN: dict[str, Any] = {
    "models": [MODEL],
    "data": [DATA],
    "perturbations": ["fgsm"],
    "eps": "8/255",
    "seed": 3,
    "limit": 1,
    "keep_images": True,
    "numerics": NUMERICS,
}
ALONE = ("--workers", 1)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(json.dumps(PLAN))
    return path


def stored(folder: str) -> Plan:
    return read_plan(Path(folder) / "plan.yaml")


def test_run_leaves_alone_what_is_not_given(segstress, plan: Path) -> None:
    said = segstress("run", plan, "--out", "run", *ALONE)
    assert said.code == 0, said.err
    left = stored("run")
    assert (left.seed, left.limit, left.keep_images) == (3, 1, True)
    assert {key: getattr(left.numerics, key) for key in NUMERICS} == NUMERICS


def test_run_honours_what_is_given(segstress, plan: Path) -> None:
    given = ("--threads", 1, "--no-keep-images", "--seed", 0, "--limit", 2)
    said = segstress("run", plan, "--out", "run", *given, *ALONE)
    assert said.code == 0, said.err
    changed = stored("run")
    assert (changed.seed, changed.limit, changed.keep_images) == (0, 2, False)
    numerics = {key: getattr(changed.numerics, key) for key in NUMERICS}
    assert numerics == {**NUMERICS, "threads": 1}, "the other numerics stay"


def test_plug_ins_are_added_to_those_of_the_plan(tmp_path: Path) -> None:
    for name in ("first.py", "second.py"):
        (tmp_path / name).touch()
    first, second = str(tmp_path / "first.py"), str(tmp_path / "second.py")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({**PLAN, "plugins": [first]}))
    changed, _ = named_plan(tmp_path / "mine.yaml", {"plugins": [first, second]})
    assert changed.plugins == [first, second]


def test_demo_takes_numerics_and_keeps_its_limit(segstress, monkeypatch) -> None:
    short = {key: value for key, value in PLAN.items() if key not in ("keep_images", "numerics")}
    monkeypatch.setattr(demonstration, "PLAN", short)
    said = segstress("demo", "--threads", 2, "--keep-images", "--out", "run", *ALONE)
    assert said.code == 0, said.err
    assert (stored("run").numerics.threads, stored("run").keep_images, stored("run").limit) == (2, True, 1)


def test_the_full_demo_refuses_what_its_claims_settle(segstress) -> None:
    said = segstress("demo", "--full", "--threads", 2, "--limit", 3)
    assert said.code == 2
    assert "--full: the claims settle limit, numerics" in said.err
    assert not Path("runs").exists()


def test_plan_refuses_what_a_file_answers(segstress, plan: Path) -> None:
    said = segstress("plan", plan, "--battery", "strong", "--eps", "4/255", "--done-at", "1%")
    assert said.code == 2
    assert f"--battery, --eps, --done-at: {plan} says so itself" in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_plan_honours_what_run_honours(segstress, plan: Path) -> None:
    costs = json.loads(segstress("plan", plan, "--limit", 2, "--json").out)
    assert {cost["images"] for cost in costs} == {2}
    assert {cost["images"] for cost in json.loads(segstress("plan", plan, "--json").out)} == {1}


def test_plan_and_attack_take_the_same_options(segstress) -> None:
    given = ("--model", MODEL, "--data", DATA, "--battery", "quick", "--eps", "8/255")
    said = segstress("plan", *given, "--exhaustive", "--done-at", "1%", "--budget", "5m", "--json")
    assert said.code == 0, said.err
    assert "done_at" in segstress("plan", *given, "--done-at", "many").err


ATTACK = """
from typing import ClassVar
from segstress.attacks import attacks
from segstress.core import settings
@attacks.register("stands-still-of-tests")
@settings
class StandsStill:
    \"\"\"One step of nothing (nobody, arXiv:0000.00000).\"\"\"
    seeks: ClassVar = "damage"
    reaches: ClassVar = None
    steps: int = 1
    def run(self, problem):
        return problem.start(True)
    def passes(self):
        return 3, 0
"""


def test_selftest_tries_the_attack_of_a_plug_in(segstress, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(ATTACK)
    said = segstress("selftest", "--attack", "stands-still-of-tests", "--plugin", "mine.py", "--no-speed", "--json")
    checks = {check["what"]: check["fault"] for check in json.loads(said.out)["checks"]}
    assert "unknown" not in checks["contract of stands-still-of-tests"]


def test_doctor_and_models_check_take_numerics(segstress) -> None:
    said = segstress("models", "check", MODEL, "--data", DATA, "--images", 1, "--dtype", "float16")
    assert (said.code, "dtype" in said.err) == (2, True)
    said = segstress("doctor", "--model", MODEL, "--data", DATA, "--quick", "--dtype", "float16")
    assert (said.code, "dtype" in said.err) == (2, True)
