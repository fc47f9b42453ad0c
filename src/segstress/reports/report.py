"""The report as a folder: page, tables, figures and gallery; equal studies give equal bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..core import BadInput
from .assessment import Assessment, assess
from .export import to_csv, to_latex
from .figures import drawings
from .gallery import write_gallery
from .image_tables import attempts, errors, images
from .naming import slugs
from .page import Section, page
from .study import Study
from .table import Table
from .tables import classes, comparison, perturbations, robust, sizes

TABLES = (robust, perturbations, classes, sizes, images, attempts, errors)


def write(studies: Sequence[Study], folder: Path, title: str) -> Path:
    """Write the whole report into a folder; the path of its page."""
    try:
        for part in ("tables", "figures", "gallery"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        return _write([assess(study) for study in studies], folder, title)
    except OSError as error:
        raise BadInput(
            f"cannot write the report into {folder}: {error.strerror or error}; make room or choose another folder"
        ) from error


def _write(assessments: Sequence[Assessment], folder: Path, title: str) -> Path:
    together = comparison(assessments)
    _write_table(together, folder / "tables" / together.name)
    names = slugs([f"{judged.study.model} {judged.study.data} {judged.study.threat}" for judged in assessments])
    sections = [_section(judged, name, folder) for name, judged in zip(names, assessments, strict=True)]
    index = folder / "index.html"
    index.write_text(page(sections, together, title), encoding="utf-8")
    return index


def _section(judged: Assessment, name: str, folder: Path) -> Section:
    """Write the files of one study, and gather what the page shows of it."""
    tables = {make.__name__: make(judged) for make in TABLES}
    for table in tables.values():
        _write_table(table, folder / "tables" / f"{name}-{table.name}")
    figures = {drawing.name: drawing for drawing in drawings(judged)}
    for drawing in figures.values():
        for suffix, data in (("svg", drawing.svg), ("pdf", drawing.pdf)):
            (folder / "figures" / f"{name}-{drawing.name}.{suffix}").write_bytes(data)
    return Section(name, judged, tables, figures, write_gallery(judged.study, name, folder))


def _write_table(table: Table, path: Path) -> None:
    for suffix, text in ((".csv", to_csv(table)), (".tex", to_latex(table))):
        path.with_name(path.name + suffix).write_text(text, encoding="utf-8")
