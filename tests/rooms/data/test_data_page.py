"""docs/data.md says what works: its specs can be built, it names every dataset, and docs/reproduce.md every plan."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from segstress.data import datasets
from segstress.planning.papers import paper, papers

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / "data.md").read_text(encoding="utf-8")
SPECS = [line for block in re.findall(r"```text\n(.*?)```", TEXT, re.S) for line in block.splitlines() if ":" in line]
PLANS = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", (DOCS / "reproduce.md").read_text(encoding="utf-8"), re.M))


@pytest.mark.parametrize("spec", SPECS)
def test_its_specs_can_be_built(spec: str) -> None:
    assert datasets.build(spec).label


def test_every_dataset_is_named() -> None:
    named = {*re.findall(r"`([\w-]+):", TEXT), *(spec.partition(":")[0] for spec in SPECS)}
    own = [name for name in datasets.names() if datasets.get(name).__module__.startswith("segstress.")]
    assert set(own) - named == {"memory"}, "which `wrap` makes"


@pytest.mark.parametrize("name", [name for name in papers() if paper(name).page != "contest"])
def test_every_plan_is_named_with_where_it_looks(name: str) -> None:
    plan = paper(name).plan
    assert datasets.read(plan["data"])["root"] in PLANS[name]
    first = plan["models"] if isinstance(plan["models"], str) else plan["models"][0]
    weights = first["weights"] if isinstance(first, dict) else first.partition("weights=weights/")[2].split("-")[0]
    assert (weights or "nvidia/segformer") in PLANS[name] or "the same" in PLANS[name]
