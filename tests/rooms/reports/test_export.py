"""Tables as text: nothing is lost in CSV, nothing breaks LaTeX."""

from __future__ import annotations

import csv
import io
import math

import pytest

from segstress.metrics.intervals import Interval
from segstress.reports.kit.export import escape, to_csv, to_latex
from segstress.reports.kit.naming import percent, slugs
from segstress.reports.kit.table import Column, Table

TABLE = Table(
    "odd",
    "Odd cells",
    (
        Column("name", "Name"),
        Column("count", "Count", "count"),
        Column("share", "Share", "share"),
        Column("clean", "Clean", "interval"),
    ),
    (
        ('a, "b"\nc_d', 1234, 0.25, Interval(0.5, 0.4, 0.6)),
        ("50 % & more", 0, math.nan, Interval(math.nan, math.nan, math.nan)),
    ),
)


def test_csv_can_be_read_back() -> None:
    first, second = csv.DictReader(io.StringIO(to_csv(TABLE)))
    assert first == {
        "name": 'a, "b"\nc_d',
        "count": "1234",
        "share": "0.25",
        "clean": "0.5",
        "clean_low": "0.4",
        "clean_high": "0.6",
    }
    assert second["name"] == "50 % & more"
    assert {second[key] for key in ("share", "clean", "clean_low", "clean_high")} == {""}


def test_latex_has_one_cell_per_column() -> None:
    text = to_latex(TABLE)
    assert r"\begin{tabular}{lrrr}" in text
    row = next(line for line in text.splitlines() if line.startswith("50"))
    assert row == r"50 \% \& more & 0 & - & - \\"
    assert "25.0 & 50.0 [40.0, 60.0]" in text


@pytest.mark.parametrize("character", list("&%$#_{}"))
def test_latex_escapes_what_it_would_obey(character: str) -> None:
    assert escape(f"a{character}b") == f"a\\{character}b"


def test_latex_escapes_each_character_once() -> None:
    assert escape("\\{~") == r"\textbackslash{}\{\textasciitilde{}"


def test_hidden_columns_take_their_cells_along() -> None:
    table = TABLE.without(["count", "clean"])
    assert [column.key for column in table.columns] == ["name", "share"]
    assert table.rows[0] == ('a, "b"\nc_d', 0.25)


def test_file_names_never_meet() -> None:
    names = slugs(["a/b", "a b", "A-b", "", "../..", "x" * 300])
    assert len(set(names)) == len(names)
    assert names[:2] == ("a-b", "a-b-2")
    assert all(name and "/" not in name and not name.startswith(".") and len(name) < 80 for name in names)


def test_slugs_that_look_numbered_already() -> None:
    assert slugs(["a", "a-2", "a"]) == ("a", "a-2", "a-3")


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.971, "97.1"), (0.0, "0.0"), (0.0001, "<0.1"), (1.0, "100.0"), (-1e-6, "0.0"), (math.nan, "-")],
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text
