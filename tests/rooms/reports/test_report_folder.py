"""The report as a whole: complete, self-contained, the same bytes every time, honest about what went wrong."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import sample_study

from segstress.core import BadInput
from segstress.reports.study.report import write
from segstress.results.rows import ImageRows
from segstress.results.study import Study

TABLES = ("robust", "perturbations", "leave_out", "convergence", "classes", "sizes", "images", "attempts", "errors")
FIGURES = ("histogram", "accuracies", "strongest", "size-bias", "convergence", "under-all")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def page(real: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write([real], tmp_path_factory.mktemp("report"), "demo")


class Links(HTMLParser):
    """Every address in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "srcset", "data", "poster"):
                self.sources.append(value or "")
            elif name == "href":
                (self.sources if tag == "link" else self.targets).append(value or "")


def test_equal_studies_give_equal_bytes(page: Path, tmp_path: Path) -> None:
    write([sample_study.study(images=12)], tmp_path, "demo")
    assert contents(page.parent) == contents(tmp_path)


def test_every_table_and_figure_is_written(page: Path) -> None:
    name = "cnn-normal-shapes-test-linf-8-255"
    for table in TABLES:
        for suffix in ("csv", "tex", "json", "parquet"):
            assert (page.parent / "tables" / f"{name}-{table}.{suffix}").stat().st_size
    for figure in FIGURES:
        assert (page.parent / "figures" / f"{name}-{figure}.svg").read_bytes().startswith(b"<?xml")
        assert (page.parent / "figures" / f"{name}-{figure}.pdf").read_bytes().startswith(b"%PDF")


def test_several_models_and_radii_are_shown_together(real: Study, tmp_path: Path) -> None:
    studies = [real, sample_study.study(images=12, radius=2, scale=0.3), sample_study.study("sturdy", 12, scale=0.5)]
    text = write(studies, tmp_path, "demo").read_text()
    names = {path.name for part in ("tables", "figures") for path in (tmp_path / part).iterdir()}
    curve, grid = "cnn-normal-shapes-test-linf-radii", "shapes-test-linf-8-255-on-all"
    assert {f"{name}.{suffix}" for name in (curve, grid) for suffix in ("svg", "pdf")} <= names
    assert {f"{name}.{suffix}" for name in (curve, "pairs") for suffix in ("csv", "tex")} <= names
    assert "Model against model" in text
    assert "cnn-normal on shapes:test: growing eps" in text


def test_the_page_loads_only_what_lies_beside_it_and_its_links_lead_somewhere(page: Path) -> None:
    links = Links()
    links.feed(page.read_text())
    beside = [source for source in links.sources if not source.startswith("data:")]
    assert "gallery/catalogue.js" in beside
    files = [*beside, *(target for target in links.targets if not target.startswith("#"))]
    assert files
    assert all((page.parent / target).is_file() for target in files)
    assert "@import" not in page.read_text()
    assert not re.search(r"url\((?!#)|https?://(?!www\.w3\.org|purl|creativecommons|matplotlib)", page.read_text())


def test_the_page_says_what_a_reader_must_know(page: Path) -> None:
    text = page.read_text()
    left = r"between [\d.]+ and [\d.]+ %"  # an attack failed on an image
    sentence = rf"<h2 [^>]*>cnn-normal keeps {left} of pixels right under 4 attacks at linf 8/255; clean 9\d\.\d %"
    assert re.search(sentence, text)
    assert "upper bound on robustness" in text
    assert "NmIoU[absent=present, void=255, background=in]" in text
    assert "logits: expected finite numbers, found NaN" in text
    assert "its transparency was dropped" in text
    assert "a01277e8c3f2" in text


def test_studies_that_share_their_names_keep_their_files_apart(tiny: Study, tmp_path: Path) -> None:
    index = write([tiny, replace(tiny, outcomes=tiny.outcomes[1:])], tmp_path, "twice")
    first, second = ((tmp_path / "tables" / f"m-d-linf-8-255{end}-robust.csv").read_text() for end in ("", "-2"))
    assert first != second
    text = index.read_text()
    assert "2 studies side by side" in text
    assert 'href="#m-d-linf-8-255-2"' in text
    assert 'id="m-d-linf-8-255-2"' in text
    lines = (tmp_path / "tables" / "comparison.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["model", "m", "m", "always b"]


def test_names_are_shown_and_never_obeyed(tiny: Study, tmp_path: Path) -> None:
    odd = replace(tiny.outcomes[1], label="<b>$x$ & y", about="<script>alert(1)</script>")
    objects = replace(tiny.objects, correct={odd.label: tiny.objects.correct["y"]})
    study = replace(tiny, model="<i>m</i>", outcomes=(odd,), objects=objects)
    text = write([study], tmp_path, "<u>").read_text()
    for tag in ("<b>$", "<script>alert", "<i>m", "<u>"):
        assert tag not in text
    assert "&lt;b&gt;$x$ &amp; y" in text


def test_clean_alone_is_a_report_too(tiny: Study, tmp_path: Path) -> None:
    clean = replace(tiny, outcomes=(), threat="", eps=None, objects=replace(tiny.objects, correct={}))
    text = write([clean], tmp_path, "clean").read_text()
    assert "m has 90.0 % of pixels right on clean images; nothing was done to them." in text
    assert "upper bound" not in text


def test_a_study_in_which_everything_failed_is_still_reported(tiny: Study, tmp_path: Path) -> None:
    nobody = np.array([False, False])
    failure = tiny.outcomes[0].rows[2]
    lost = tuple(
        replace(outcome, answered=nobody, counts={}, rows=ImageRows.of([failure])) for outcome in tiny.outcomes
    )
    nothing = {name: np.array([], dtype=np.int64) for name in ("image", "klass", "area", "clean")}
    objects = replace(tiny.objects, **nothing, correct={"x": nothing["area"], "y": nothing["area"]})
    failed = replace(tiny, clean={}, clean_answered=nobody, outcomes=lost, objects=objects)
    text = write([failed], tmp_path, "failed").read_text()
    assert "Nothing could be measured of m" in text
    assert "no gradient" in text


def test_a_folder_that_cannot_be_written_is_refused_in_one_line(tiny: Study, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    with pytest.raises(BadInput, match=r"cannot write the report into .*choose another folder"):
        write([tiny], taken, "demo")
