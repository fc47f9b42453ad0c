"""Units that are made when they are asked for: whole batches by their places, whatever is there already."""

from __future__ import annotations

import numpy as np
import pytest

from segstress.evaluation.units import ChainUnits, Units
from segstress.runtime import Cell


def cell(name: str, model: str = "m") -> Cell:
    prints = {"model": model, "data": "d"}
    return Cell({**prints, "perturbation": name}, {}, {}, {"kind": name}, 0, prints, {})


IDS = list("abcdefg")
FIRST, SECOND = cell("first"), cell("second")
MISSING = np.array([[1, 1, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1, 1]], bool)
CHAIN = ChainUnits([FIRST, SECOND], IDS, MISSING, batch=2, together=1, first=3, finished={"f": "first", "c": "first"})


def test_a_unit_is_cut_by_places_and_leaves_out_what_is_there() -> None:
    units = list(Units([CHAIN]))
    assert [unit.number for unit in units] == [3, 5, 6], "finished ones count, too"
    assert [unit.batches for unit in units] == [(("a", "b"),), (("f",),), (("g",),)]
    assert [ids for _, ids in units[0].steps] == [("a", "b"), ("a",)]
    assert [ids for _, ids in units[1].steps] == [(), ("f",)]
    assert [dict(unit.finished) for unit in units] == [{}, {"f": "first"}, {}]
    assert CHAIN.end == 7


def test_several_batches_make_a_unit() -> None:
    chain = ChainUnits([FIRST], IDS, np.ones((1, 7), bool), batch=2, together=2)
    assert [unit.batches for unit in Units([chain])] == [(("a", "b"), ("c", "d")), (("e", "f"), ("g",))]


def test_units_of_all_chains_are_one_list() -> None:
    nothing = ChainUnits([SECOND], IDS, np.zeros((1, 7), bool), batch=2, together=1)
    other = ChainUnits([cell("first", "n")], IDS, np.ones((1, 7), bool), batch=7, together=1, first=CHAIN.end)
    units = Units([CHAIN, nothing, other])
    assert len(units) == 4
    assert units[-1].number == 7
    assert units[1:3] == [units[1], units[2]]
    with pytest.raises(IndexError, match="expected one of 4 units"):
        units[4]
    assert units.describe() == "13 answers"
    assert Units([other]).describe() == "7 answers (7 images x 1 perturbations)"


def test_no_unit_is_made_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(ChainUnits, "unit", lambda chain, place: made.append(place))
    units = Units([CHAIN])
    units.describe()
    assert len(units) == 3
    assert not made
    next(iter(units))
    assert made == [0]
