"""One way to write a page: what fails is said, what is old goes, a folder that cannot be written ends in one line."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pyarrow import parquet

import segstress.reports.kit.export
import segstress.reports.kit.table_files
from segstress.core import BadInput
from segstress.metrics.intervals import Interval
from segstress.reports.kit import Column, Drawing, GalleryPicture, PageFiles, Strip, Table, canvas, write_page
from segstress.reports.kit.drawing import mosaic
from segstress.reports.kit.table import Kind, Row, RowStream

COLUMNS = (Column("name", "Name"), Column("share", "Share", "share"))


def table(name: str = "fine") -> Table:
    return Table(name, "A table", COLUMNS, (("a", 0.5),))


def drawing(name: str = "fine") -> Drawing:
    return Drawing(name, "A figure", "", canvas(1.0)[0])


def broken(_: object) -> None:
    raise KeyError("weights")


def strip(*pictures: GalleryPicture, shown: bool = True) -> Strip:
    return Strip("image", "as it is", pictures, shown)


WORDS = {"title": "a page", "headline": "what it says", "verdict": "", "points": [], "alarms": [], "classes": []}


def picture(file: str = "fine", side: int = 4) -> GalleryPicture:
    return GalleryPicture("photo", f"gallery/{file}.png", partial(np.zeros, (side, side, 3), dtype=np.uint8))


def write(folder: Path, tables: object = (), drawings: object = (), strips: object = ()) -> str:
    """A page that shows one part."""

    def declare(files: PageFiles) -> dict[str, object]:
        part = files.part("", tables, drawings, strips)
        return {**WORDS, "part": part}

    return write_page(folder, "local.html", declare).read_text()


def table_files(*names: str) -> set[str]:
    return {f"tables/{name}.{end}" for name in names for end in ("csv", "tex", "json", "parquet")}


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_everything_has_its_files(tmp_path: Path) -> None:
    text = write(tmp_path, [table()], [drawing()], [strip(picture())])
    expected = table_files("fine") | {"figures/fine.svg", "figures/fine.pdf", "gallery/fine.png"}
    assert files(tmp_path) == expected | {"index.html"}
    assert "Warnings" not in text


def test_what_cannot_be_made_is_said_and_the_rest_is_there(tmp_path: Path) -> None:
    def declare(page: PageFiles) -> dict[str, object]:
        tables = page.make(Table, {"bad": broken, "none": lambda _: None, "good": lambda _: table("good")}, None, "s")
        drawings = page.make(Drawing, {"bad": broken, "several": lambda _: [drawing("one"), drawing("two")]}, None)
        faulty = GalleryPicture("bad", "gallery/bad.png", partial(broken, None))
        part = page.part("s", tables, drawings, [strip(picture(), faulty)])
        return {**WORDS, "part": part}

    text = write_page(tmp_path, "local.html", declare).read_text()
    for sentence in ("Table s-bad failed", "Figure bad failed", "Picture gallery/bad.png failed"):
        assert f"{sentence} and is left out (KeyError: &#39;weights&#39;)" in text
    names = {"index.html", *table_files("s-good"), "gallery/fine.png"}
    assert files(tmp_path) == names | {f"figures/s-{name}.{end}" for name in ("one", "two") for end in ("svg", "pdf")}


@pytest.mark.parametrize(
    "rows", [(("a", "half"),), (("a", Interval(0.1, 0.0, 0.2)),)], ids=["text as a share", "interval as a share"]
)
def test_a_table_that_cannot_be_written_is_said_too(tmp_path: Path, rows: tuple) -> None:
    text = write(tmp_path, [Table("odd", "Odd", COLUMNS, rows), table()])
    assert "Table odd failed and is left out (ValueError" in text
    assert files(tmp_path) == {"index.html", *table_files("fine")}


def test_a_table_that_breaks_off_leaves_no_file(tmp_path: Path) -> None:
    def rows() -> Iterator[Row]:
        yield ("a", 0.5)
        raise KeyError("lost")

    text = write(tmp_path, [Table("odd", "Odd", COLUMNS, RowStream(2, rows)), table()])
    assert "Table odd failed and is left out (KeyError" in text
    assert files(tmp_path) == {"index.html", *table_files("fine")}


def test_many_rows_are_made_as_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In two formats, equal to those of rows that are held; the page lists the first and says how many there are."""
    monkeypatch.setattr(segstress.reports.kit.export, "HELD", 16)
    many = [(f"image {number}", number / 120) for number in range(120)]
    write(tmp_path / "held", [Table("many", "Many", COLUMNS, tuple(many))])
    monkeypatch.setattr(segstress.reports.kit.table_files, "MANY", 119)
    text = write(tmp_path / "made", [Table("many", "Many", COLUMNS, RowStream(120, lambda: iter(many)))])
    assert files(tmp_path / "made") == {"index.html", "tables/many.csv", "tables/many.parquet"}
    for file in ("many.csv", "many.parquet"):
        assert (tmp_path / "made" / "tables" / file).read_bytes() == (tmp_path / "held" / "tables" / file).read_bytes()
    assert parquet.read_table(tmp_path / "made" / "tables" / "many.parquet")["share"].to_pylist() == [
        s for _, s in many
    ]
    assert "The first 100 of 120 rows" in text
    assert "image 99" in text
    assert "image 100" not in text
    assert "many.json" not in text


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="row 1 has 1 cells below 2 columns"):
        Table("odd", "Odd", COLUMNS, (("a", 0.5), ("b",)))


def test_two_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    assert "Table fine failed and is left out (ValueError: another one has the same name)" in write(
        tmp_path, [table(), Table("fine", "Another", COLUMNS, ())]
    )
    assert (tmp_path / "tables" / "fine.csv").read_text() == "name,share\na,0.5\n"


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    assert "Table ../fine failed and is left out (ValueError: its name is no file name" in write(
        tmp_path / "report", [table("../fine")]
    )
    assert files(tmp_path) == {"report/index.html"}


def test_a_gallery_that_breaks_off_is_said(tmp_path: Path) -> None:
    def strips():
        yield strip(picture())
        raise IndexError("no such frame")

    text = write(tmp_path, strips=strips())
    assert "The rest of the gallery failed and is left out (IndexError: no such frame)" in text
    assert 'href="gallery/fine.png"' in text


def test_rows_that_are_not_shown_have_files_all_the_same(tmp_path: Path) -> None:
    text = write(tmp_path, strips=[strip(picture("a"), shown=False), strip(picture("a"), picture("b"))])
    assert files(tmp_path) == {"index.html", "gallery/a.png", "gallery/b.png"}
    assert text.count("<img") == 2


def test_files_of_an_earlier_report_go_and_those_of_others_stay(tmp_path: Path) -> None:
    write(tmp_path, [table("old")])
    write(tmp_path, [table("new")])
    assert files(tmp_path) == {"index.html", *table_files("new")}
    (tmp_path / "index.html").write_text("<title>my site</title>")
    write(tmp_path, [table("third")])
    assert {"tables/new.csv", "tables/third.csv"} <= files(tmp_path)


@pytest.mark.parametrize("content", [{"tables": [table()]}, {"drawings": [drawing()]}, {"strips": [strip(picture())]}])
def test_a_folder_that_cannot_be_written_ends_in_one_line(tmp_path: Path, content: dict) -> None:
    for name in ("tables", "figures", "gallery"):
        (tmp_path / name).write_text("a file where a folder must be")
    with pytest.raises(BadInput, match=r"cannot write the report into .*; make room or choose another folder") as error:
        write(tmp_path, **content)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BadInput, match="cannot write the report"):
        write(tmp_path / "below")


def test_hidden_columns_are_off_in_the_page_and_in_the_files(tmp_path: Path) -> None:
    text = write(tmp_path, [table().hiding(["share"])])
    assert "<th>Name</th>" in text
    assert '<th class="number" hidden>Share</th>' in text
    assert '<td class="number" data-value="0.5" hidden>50.0</td>' in text
    assert (tmp_path / "tables" / "fine.csv").read_text().startswith("name,share")


def test_a_large_picture_has_a_small_copy_beside_it(tmp_path: Path) -> None:
    photo = GalleryPicture("photo", "gallery/p.png", partial(np.zeros, (300, 600, 3), dtype=np.uint8), photograph=True)
    text = write(tmp_path, strips=[strip(picture("large", side=512), photo, picture("tiny"))])
    expected = {"gallery/large.png", "gallery/small/large.png", "gallery/p.png", "gallery/small/p.jpg"}
    assert files(tmp_path) == expected | {"gallery/tiny.png", "index.html"}
    assert 'src="gallery/small/p.jpg" loading="lazy"' in text
    assert 'src="gallery/tiny.png" loading="lazy"' in text
    assert Image.open(tmp_path / "gallery/small/p.jpg").size == (256, 128)


def test_the_best_of_a_column_is_bold_and_what_is_beside_never(tmp_path: Path) -> None:
    columns = (Column("name", "Name"), Column("share", "Share", "share", best="highest"))
    rows = (("a", 0.5), ("b", 0.7), ("c", float("nan")), ("always", 0.9))
    shown = Table("t", "T", columns, rows, beside=1)
    assert shown.bold == {(1, 1)}
    assert replace(shown, columns=(columns[0], replace(columns[1], best="lowest"))).bold == {(0, 1)}
    assert replace(shown, rows=(rows[0], rows[3])).bold == frozenset()  # one alone is no best
    write(tmp_path, [shown])
    assert r"b & \textbf{70.0} \\" in (tmp_path / "tables/t.tex").read_text()


def test_a_large_figure_lies_beside_the_page(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (300, 300, 3), dtype=np.uint8)
    text = write(tmp_path, drawings=[drawing(), Drawing("pictures", "Pictures", "", mosaic([[("", noise)]]))])
    assert 'src="figures/pictures.svg" loading="lazy"' in text
    assert 'src="figures/fine.svg"' not in text
    assert text.count("<svg") == 1
    assert len(text) < 100_000


def test_cells_lead_to_what_lies_behind_them(tmp_path: Path) -> None:
    links, tints = {(0, 0): "#behind?a=<b>"}, {(0, 1): -0.5}
    write_page(tmp_path, "local.html", lambda page: {**WORDS, "part": page.part("", [replace(table(), links=links)])})
    assert '<a href="#behind?a=&lt;b&gt;">' in (tmp_path / "index.html").read_text()
    columns = (Column("model", "Model"), Column("share", "Share", "share"))
    tinted = Table("fine", "A title", columns, (("a", 0.25),), tints=tints)
    write_page(tmp_path, "local.html", lambda page: {**WORDS, "part": page.part("", [tinted])})
    assert "--tint: var(--harm) 35.0%" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("kind", ["share", "interval"])
def test_the_best_of_a_column_are_in_bold_and_no_other(tmp_path: Path, kind: Kind) -> None:
    shares = (0.2, 0.9, 0.5, 0.8)
    cells = [Interval(share, share - 0.1, share + 0.1) if kind == "interval" else share for share in shares]
    columns = (Column("ranked", "Ranked", kind, best="highest", top=2), Column("plain", "Plain", kind))
    text = write(tmp_path, [Table("t", "T", columns, tuple((cell, cell) for cell in cells), tints={(0, 1): 1.0})])
    shown = re.findall(r'<td class="([^"]*)" data-value="([^"]*)"', text)
    assert {(words, float(share)) for words, share in shown if words != "number"} == {
        ("number best", 0.9),
        ("number best", 0.8),
        ("number tinted", 0.2),
    }
    assert len(shown) == 2 * len(shares)
    assert "<b>" not in text[text.index("<tbody>") : text.index("</tbody>")]


def test_a_figure_without_bounds_stands_alone(tmp_path: Path) -> None:
    rows = tuple((Interval(value, low, high),) for value, low, high in ((0.5, 0.4, 0.6), (0.7, math.nan, math.nan)))
    text = write(tmp_path, tables=[Table("t", "T", (Column("a", "A", "interval"),), rows)])
    assert "40.0 to 60.0" in text
    assert "70.0" in text
    assert "- to -" not in text
