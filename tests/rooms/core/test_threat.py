"""Radii as people write them, and threats that make no sense."""

from __future__ import annotations

import math

import pytest

from segstress.core import BadInput, Threat, format_radius, parse_radius


@pytest.mark.parametrize(("text", "value"), [("8/255", 8 / 255), ("0.03", 0.03), (0.5, 0.5), ("inf", math.inf)])
def test_radius_is_read(text, value):
    assert parse_radius(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["eight", "8/0", "-1/255", None, "nan"])
def test_radius_that_is_none_is_refused(text):
    with pytest.raises(BadInput, match="eps"):
        parse_radius(text)


@pytest.mark.parametrize("text", ["8/255", "0.5/255", "0.25/255"])
def test_radius_is_written_as_it_was_read(text):
    assert format_radius(parse_radius(text)) == text


def test_eps_of_eight_gets_the_hint():
    with pytest.raises(ValueError, match='write eps="8/255"'):
        Threat(radius=8)
    assert Threat(radius=8, norm="l2").radius == 8


def test_enough_is_a_share():
    with pytest.raises(ValueError, match="share"):
        Threat(enough=99)
