"""Plans as files: what init writes is read, and the schema lets in every plan that comes with the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from segstress.contests.plan import Contest
from segstress.fitting.plan import TrainingPlan, training_plans
from segstress.planning import read_plan
from segstress.planning.battery_files import Battery, batteries
from segstress.planning.papers import paper, papers
from segstress.planning.plan import Plan
from segstress.planning.schema import schema_of

PLANS = Path(__file__).parents[3] / "src" / "segstress" / "plans"
GIVEN = ("--model", "compact:cnn-normal", "--data", "shapes:test?count=2", "--battery", "quick", "--eps", "4/255,8/255")


def faults(plain: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    """Tell whether data does not fit a schema, as far as our schemas go; jsonschema knows all of it."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return all(faults(plain, choice, root) for choice in schema["anyOf"])
    kinds = {"string": str, "object": dict, "array": list, "boolean": bool, "null": type(None), "integer": int}
    kind = kinds.get(schema.get("type", ""), (int, float) if schema.get("type") == "number" else object)
    if not isinstance(plain, kind):
        return True
    if isinstance(plain, list) and "items" in schema:
        return any(faults(item, schema["items"], root) for item in plain)
    if isinstance(plain, dict) and "properties" in schema:
        known = schema["properties"]
        unfit = any(key not in known or faults(value, known[key], root) for key, value in plain.items())
        return unfit or bool(set(schema.get("required", ())) - set(plain))
    return False


def fits(plain: Any, settings: type) -> bool:
    schema = schema_of(settings)
    try:
        import jsonschema
    except ImportError:
        return not faults(plain, schema, schema)
    return not list(jsonschema.Draft202012Validator(schema).iter_errors(plain))


def battery(name: str) -> dict[str, Any]:
    plain = yaml.safe_load((PLANS / "batteries" / "attacks" / f"{name}.yaml").read_text())
    return {**battery(plain.pop("base")), **plain} if "base" in plain else plain


@pytest.mark.parametrize("name", batteries())
def test_batteries_fit_their_schema(name: str) -> None:
    assert fits(battery(name), Battery)


@pytest.mark.parametrize("name", [name for name in papers() if paper(name).page != "contest"])
def test_papers_fit_the_schema_of_plans(name: str) -> None:
    plan = {"models": ["compact:cnn-normal"], "data": ["shapes:test"], **paper(name).plan}
    assert fits(plan, Plan)


@pytest.mark.parametrize("name", training_plans())
def test_trainings_fit_their_schema(name: str) -> None:
    assert fits(yaml.safe_load(training_plans()[name]), TrainingPlan)


@pytest.mark.parametrize(
    ("plain", "good"),
    [
        ({"models": "a", "data": ["b"], "eps": "8/255", "budget": "30m", "done_at": "1%"}, True),
        ({"models": ["a"], "data": ["b"], "eps": ["4/255", 0.1], "numerics": {"threads": 2}}, True),
        ({"models": ["a"]}, False),
        ({"models": ["a"], "data": ["b"], "epss": "8/255"}, False),
        ({"models": ["a"], "data": ["b"], "numerics": {"thread": 2}}, False),
        ({"models": ["a"], "data": ["b"], "limit": "many"}, False),
    ],
)
def test_the_schema_lets_in_what_people_write_and_nothing_else(plain: dict[str, Any], good: bool) -> None:
    assert fits(plain, Plan) == good


def test_keys_are_explained_by_their_comments() -> None:
    properties = schema_of(Plan)["properties"]
    assert "gallery" in properties["keep_images"]["description"]
    assert list(properties) == list(Plan.__dataclass_fields__)
    assert "description" in schema_of(Contest)["properties"]["pool"]
    assert "description" in schema_of(Plan)["$defs"]["Numerics"]["properties"]["threads"]


def test_schema_is_printed(segstress) -> None:
    assert json.loads(segstress("schema").out) == json.loads(json.dumps(schema_of(Plan)))
    assert json.loads(segstress("schema", "battery").out)["title"] == "Battery"


def test_init_writes_a_plan_that_is_read(segstress) -> None:
    said = segstress("init", *GIVEN, "--limit", 1)
    assert said.code == 0, said.err
    plan = read_plan(Path("plan.yaml"))
    assert (plan.battery, len(plan.eps), plan.limit) == ("quick", 2, 1)
    text = Path("plan.yaml").read_text()
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ") and ": " in line[:20]]
    whole = "\n".join([*(line for line in text.splitlines() if not line.startswith("#")), *lines])
    assert read_plan(yaml.safe_load(whole[whole.index("models") :])) == plan, "what is commented out are the defaults"
    assert "is there already" in segstress("init", *GIVEN).err
    assert segstress("init", *GIVEN, "--force").code == 0


def test_init_asks_nobody_where_nobody_sits(segstress, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    said = segstress("init", "--model", "compact:cnn-normal")
    assert said.code == 2
    assert "--data" in said.err
    assert not Path("plan.yaml").exists()


def test_init_asks_for_what_is_open(segstress, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", lambda question, default: default)
    assert segstress("init").code == 0
    assert read_plan(Path("plan.yaml")).models == ["compact:cnn-normal"]
