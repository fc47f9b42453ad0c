"""The report as a folder: page, tables, figures and gallery; equal studies give equal bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...core import BadInput
from ...results.study import Study
from ..kit.drawing import Drawing
from ..kit.export import to_csv, to_latex
from ..kit.gallery import write_gallery
from ..kit.naming import slugs
from ..kit.table import Table
from .assessment import Assessment, assess
from .convergence import convergence, convergence_drawing
from .figures import drawings
from .floor_figures import floor_drawings
from .floor_tables import floor_classes, floor_sizes, floors
from .grids import on_all_models, under_all_attacks
from .image_tables import attempts, errors, images
from .page import Part, Section, page
from .radii import Family, families, radii, radii_drawing
from .rivals import pairs, rivals
from .standing import standing
from .tables import classes, comparison, leave_out, perturbations, robust, sizes

TABLES = (robust, perturbations, leave_out, convergence, classes, sizes, standing, images, attempts, errors)
FLOORS = (floors, floor_classes, floor_sizes)


def write(studies: Sequence[Study], folder: Path, title: str, beside: Sequence[Table] = ()) -> Path:
    """Write the whole report into a folder, with tables from elsewhere beside it; the path of its page."""
    try:
        for part in ("tables", "figures", "gallery"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        return _write([assess(study) for study in studies], folder, title, beside)
    except OSError as error:
        raise BadInput(
            f"cannot write the report into {folder}: {error.strerror or error}; make room or choose another folder"
        ) from error


def _write(assessments: Sequence[Assessment], folder: Path, title: str, beside: Sequence[Table]) -> Path:
    groups = rivals(assessments)
    together = _part("", [comparison(assessments), pairs(groups)], [])
    overviews = [*(_part("", [table], []) for table in beside), *_curves(families(assessments)), *_grids(groups)]
    names = slugs([f"{judged.study.model} {judged.study.data} {judged.study.threat}" for judged in assessments])
    sections = [_section(judged, name, folder) for name, judged in zip(names, assessments, strict=True)]
    for part in (together, *overviews, *sections):
        _write_part(part, folder)
    index = folder / "index.html"
    index.write_text(page(sections, together, overviews, title), encoding="utf-8")
    return index


def _section(judged: Assessment, name: str, folder: Path) -> Section:
    """What the page shows of one study."""
    figures = [*drawings(judged), convergence_drawing(judged), under_all_attacks(judged.study), *floor_drawings(judged)]
    part = _part(name, [make(judged) for make in (TABLES + FLOORS if judged.study.alone else TABLES)], figures)
    return Section(name, part.tables, part.drawings, judged, write_gallery(judged.study, name, folder))


def _curves(found: Sequence[Family]) -> Iterator[Part]:
    """Worst case against eps, for each model and dataset with several radii."""
    names = slugs([" ".join((study.model, study.data, study.ball)) for study in (family[0].study for family in found)])
    for name, family in zip(names, found, strict=True):
        yield _part(name, [radii(family)], [radii_drawing(family)])


def _grids(groups: Sequence[Sequence[Assessment]]) -> Iterator[Part]:
    """One perturbation on several models, for each dataset and threat that has pictures of it."""
    names = slugs([f"{group[0].study.data} {group[0].study.threat}" for group in groups])
    for name, group in zip(names, groups, strict=True):
        yield _part(name, [], [on_all_models([judged.study for judged in group])])


def _part(name: str, tables: Sequence[Table], figures: Sequence[Drawing | None]) -> Part:
    drawn = {drawing.name: drawing for drawing in figures if drawing is not None}
    return Part(name, {table.name: table for table in tables}, drawn)


def _write_part(part: Part, folder: Path) -> None:
    """The files of a part: tables as CSV and LaTeX, figures as SVG and PDF."""
    for table in part.tables.values():
        for suffix, text in (("csv", to_csv(table)), ("tex", to_latex(table))):
            (folder / "tables" / f"{part.file(table.name)}.{suffix}").write_text(text, encoding="utf-8")
    for drawing in part.drawings.values():
        for suffix, data in (("svg", drawing.svg), ("pdf", drawing.pdf)):
            (folder / "figures" / f"{part.file(drawing.name)}.{suffix}").write_bytes(data)
