"""Names of localized attacks on pages: what was done, without the steps, which have a column of their own."""

from __future__ import annotations

import pytest

from segstress.core import perturbations


@pytest.mark.parametrize(
    ("attack", "name"),
    [
        ("pgd-region?steps=5", "2 x pgd-region"),
        ("pgd?keep=last&steps=7", "2 x pgd(keep=last)"),
        ("pgd?keep=last", "2 x pgd(keep=last)"),
    ],
)
def test_steps_are_left_out(attack, name):
    several = perturbations.build({"kind": "multi-attack", "attack": attack, "number": 2})
    assert several.curve_point.what == name
    assert several.curve_point.steps == several.attack.steps
    assert several.curve_point.number == 2


BOX = {"kind": "box", "position": "centre", "height": 4, "width": 4}


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        ("multi-attack", {"threat": {"radius": "8/255", "target": 3}}),
        ("multi-attack", {"threat": {"radius": "8/255", "norm": "l2"}}),
        ("multi-attack", {"threat": {"radius": "8/255", "reference": "prediction"}}),
        ("multi-attack", {"aim": BOX}),
        ("multi-attack", {"every_iterate": True}),
        ("attack", {"threat": {"radius": "8/255", "target": 3}}),
        ("attack", {"aim": BOX}),
        ("attack", {"draws": 2}),
        ("corrupt", {"apply": "patches"}),
        ("corrupt", {"stage": "network"}),
        ("corrupt", {"reference_size": 512}),
    ],
)
def test_two_that_differ_have_two_names(kind, other):
    own = {"attack": {"threat": {"radius": "8/255"}, "algorithm": "pgd"}, "corrupt": {"corruption": "fog"}}
    plain = {"kind": kind, "region": BOX, "threat": {"radius": "8/255"}} if kind == "multi-attack" else {"kind": kind}
    plain = {"region": BOX, **plain, **own.get(kind, {})}
    one, two = (perturbations.build(spec) for spec in (plain, {**plain, **other}))
    assert one.curve_point.what != two.curve_point.what, "their results would be taken for one"


def test_what_acts_everywhere_is_no_damage_to_a_part():
    plain = {"kind": "attack", "algorithm": "pgd", "threat": {"radius": "8/255"}}
    assert perturbations.build(plain).curve_point is None
    box = {"kind": "box", "position": "centre", "height": 4, "width": 4}
    assert perturbations.build({**plain, "region": box}).curve_point.severity == 8 / 255
    assert perturbations.build("clean").curve_point is None
    assert perturbations.build("corrupt:fog?severity=2").curve_point.severity == 2
