"""No move changes a result: attacks on the toy problem, and the tables of a small run of each command."""

from __future__ import annotations

import csv
import io
import re

import pytest

from . import deltas, tables
from .stored import DELTAS, stored, stored_tables

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def test_every_attack_is_stored():
    assert sorted(stored(DELTAS)) == sorted(deltas.names())


@pytest.mark.parametrize("name", sorted(stored(DELTAS)))
def test_delta_is_as_stored(name):
    before, after = stored(DELTAS)[name], deltas.facts(name)
    assert sorted(before) == sorted(after)
    for goal, facts in before.items():
        for fact, values in facts.items():
            assert after[goal][fact] == pytest.approx(values, abs=1e-6), f"{goal}: {fact}"


@pytest.mark.parametrize("name", sorted(tables.RUNS))
def test_tables_are_as_stored(name, tmp_path):
    before, after = stored_tables(name), tables.make(name, tmp_path)
    assert sorted(before) == sorted(after)
    for table, text in before.items():
        rows, now = ([*csv.reader(io.StringIO(each))] for each in (text, after[table]))
        assert [words(row) for row in rows] == [words(row) for row in now], table
        for old, new in zip(rows, now, strict=True):
            assert numbers(new) == pytest.approx(numbers(old), rel=0.02, abs=0.3), f"{table}: {old} -> {new}"


def words(row: list[str]) -> list[str]:
    """What of a row is no number."""
    return [NUMBER.sub("#", cell) for cell in row]


def numbers(row: list[str]) -> list[float]:
    """What of a row is a number."""
    return [float(number) for cell in row for number in NUMBER.findall(cell)]
