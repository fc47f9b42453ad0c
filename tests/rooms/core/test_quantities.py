"""Numbers are bounded before anything is done or allocated so many times; seeds and ids are not."""

from __future__ import annotations

import dataclasses
import re
import typing

import pytest

from segstress.attacks import attacks
from segstress.cli.main import _line
from segstress.core import BadImage, BadInput, Registry, perturbations, regions, targets
from segstress.corruptions import corruptions
from segstress.data import datasets
from segstress.data.resizing import Resize
from segstress.models import models
from segstress.planning import read_plan

REGISTRIES = (attacks, perturbations, regions, targets, corruptions, datasets, models)
NAMES_OF_THINGS = {"background", "classes", "colours", "draw", "drop_outputs", "ignore", "seed"}  # nothing is so many
PLAN = {"models": ["compact:cnn-normal"], "data": ["shapes:test"], "perturbations": ["fgsm"], "eps": "8/255"}


def unbounded(kind: type) -> set[str]:
    """Settings of whole numbers without an upper bound, but for names of classes, colours and draws."""
    hints = typing.get_type_hints(kind, include_extras=True)
    words = {field.name: str(hints[field.name]) for field in dataclasses.fields(kind)}
    return {
        name for name, hint in words.items() if re.search(r"\bint\b", hint) and "Le(le=" not in hint
    } - NAMES_OF_THINGS


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.noun)
def test_every_number_of_every_registered_thing_is_bounded(registry: Registry[typing.Any]) -> None:
    known = {registry.get(name) for name in registry.names()}
    kinds = {kind for kind in known if kind.__module__.startswith("segstress.")}  # other tests register theirs
    assert kinds
    bare = {f"{kind.__name__}.{name}" for kind in kinds if dataclasses.is_dataclass(kind) for name in unbounded(kind)}
    assert bare - {"Shapes.size"} == set()  # its pixels are bounded, not its sides


ABSURD = [
    (datasets, "shapes:test?size=100000", "50,000,000 pixels"),
    (datasets, "shapes:test?size=8x100000000", "50,000,000 pixels"),
    (datasets, "shapes:test?count=10000000", "1000000"),
    (datasets, "shapes:test?resize=1000000x1000000", "50,000,000 pixels"),
    (datasets, "shapes:test?resize=short-1000000", "50,000,000 pixels"),
    (datasets, "folder:x?classes=1000000000000&ignore=none", "65,536"),
    (attacks, "pgd?steps=1.0e+23", "steps: "),
    (attacks, "pgd?steps=99999999999", "1000000"),
    (models, "compact:cnn?classes=1000000000000", "65536"),
    (models, "compact:cnn?channels=1000000000000", "65536"),
    (models, "compact:cnn-normal?pad=1000000000", "65535"),
    (models, "compact:cnn-normal?long_side=10000000", "65535"),
    (regions, "boxes?count=3&height=1000000000", "65535"),
    (perturbations, {"kind": "attack", "algorithm": "pgd", "threat": {"norm": "l2", "radius": 1e300}}, "so far apart"),
]


@pytest.mark.parametrize(("registry", "spec", "bound"), ABSURD, ids=lambda value: str(value)[:40])
def test_an_absurd_number_is_refused_in_one_line(registry: Registry[typing.Any], spec: typing.Any, bound: str) -> None:
    with pytest.raises(BadInput, match=bound) as said:
        registry.build(spec)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize("numerics", [{"threads": 10**6}, {"batch_size": 10**20}, {"batch_size": -1}], ids=str)
def test_absurd_numerics_are_refused(numerics: dict[str, int]) -> None:
    with pytest.raises(BadInput, match=f"numerics.{next(iter(numerics))}"):
        read_plan({**PLAN, "numerics": numerics})


def test_an_image_that_a_rule_makes_too_large_is_a_bad_image() -> None:
    with pytest.raises(BadImage, match="50,000,000 pixels"):
        Resize(rule="scale", size=1000).scaled(32, 32)


@pytest.mark.parametrize("seed", [10**30, -1, -(10**30)])
def test_networks_begin_from_seeds_of_any_size(seed: int) -> None:
    models.build(f"compact:cnn?seed={seed}").network()


def test_memory_that_torch_cannot_get_is_a_clear_line() -> None:
    full = RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory\nat")
    assert _line(full).startswith("out of memory (")
    assert "\n" not in _line(full)
