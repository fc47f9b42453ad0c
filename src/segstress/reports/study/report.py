"""The report as a folder: page, tables, figures and gallery; equal studies give equal bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...results.study import Study
from ..kit.drawing import Drawing
from ..kit.naming import slugs
from ..kit.page import PageFiles, PagePart, write_page
from ..kit.table import Table
from .assessment import Assessment, assess
from .catalogue import FILE, VARIABLE, catalogue
from .gallery import strips
from .grids import on_all_models
from .main_tables import comparison
from .page import StudySection
from .radii import families, multiples, radii, radii_drawing
from .registry import drawings, makers, tables
from .rivals import pairs, pairs_drawing, rivals

REMARKS = 10  # warnings at the top
MOST = 20_000  # pairs of image and perturbation in the gallery, about 1 MB of its script
OVERVIEW = {"comparison": comparison, "pairs": lambda assessments: pairs(rivals(assessments))}
FIGURES = {
    "pairs": lambda assessments: pairs_drawing(rivals(assessments)),
    "all-radii": lambda assessments: multiples(families(assessments)),
}


def write(studies: Sequence[Study], folder: Path, title: str, beside: Sequence[Table] = ()) -> Path:
    """Write the whole report into a folder, with tables from elsewhere beside it; the path of its page."""

    pictured = _pictured(studies)
    studies = _bounded(studies)

    def declare(files: PageFiles) -> dict[str, Any]:
        assessments = [assess(study) for study in studies]
        together = files.part("", files.make(Table, OVERVIEW, assessments), files.make(Drawing, FIGURES, assessments))
        elsewhere = files.part("", (replace(table, folded=True) for table in beside))
        overviews = [elsewhere, *_curves(files, assessments), *_grids(files, assessments)]
        names = slugs([" ".join((study.model, study.data, study.threat)) for study in studies])
        sections = [_section(files, name, assessment) for name, assessment in zip(names, assessments, strict=True)]
        pictures = catalogue(list(zip(names, assessments, strict=True)))
        if pictures is not None:
            files.script(FILE, VARIABLE, pictures)
        return {
            "title": title,
            "pictures": pictures is not None,
            "pictured": (_pictured(studies), pictured, max((len(study.ids) for study in studies), default=0)),
            "together": together,
            "overviews": overviews,
            "sections": sections,
            "remarks": REMARKS,
        }

    return write_page(folder, "study.html", declare)


def _bounded(studies: Sequence[Study]) -> list[Study]:
    """Let the gallery have as many images of each study as keep its script small."""
    share = MOST // max(1, sum(len(study.outcomes) for study in studies))
    return [replace(study, more=study.more and study.more.first(max(0, share - _held(study)))) for study in studies]


def _pictured(studies: Sequence[Study]) -> int:
    """Return of how many images the study with most of them has pictures."""
    return max((_held(study) + len(study.more.ids if study.more else ()) for study in studies), default=0)


def _held(study: Study) -> int:
    return len({frame.image_id for frame in study.frames})


def _section(files: PageFiles, name: str, assessment: Assessment) -> StudySection:
    """Write what the page shows of one study."""
    part = files.part(
        name,
        files.make(Table, makers(tables), assessment, name),
        files.make(Drawing, makers(drawings), assessment, name),
        strips(assessment.study, name),
    )
    return StudySection(part.name, part.tables, part.drawings, part.strips, assessment)


def _curves(files: PageFiles, assessments: Sequence[Assessment]) -> Iterator[PagePart]:
    """Yield worst case against eps, for each model and dataset with several radii."""
    grown = families(assessments)
    names = slugs([" ".join((study.model, study.data, study.ball)) for study in (family[0].study for family in grown)])
    for name, family in zip(names, grown, strict=True):
        curve = files.make(Drawing, {"radii": radii_drawing}, family, name)
        yield files.part(name, files.make(Table, {"radii": radii}, family, name), curve)


def _grids(files: PageFiles, assessments: Sequence[Assessment]) -> Iterator[PagePart]:
    """Yield one perturbation on several models, for each dataset and threat that has pictures of it."""
    groups = rivals(assessments)
    names = slugs([f"{group[0].study.data} {group[0].study.threat}" for group in groups])
    for name, group in zip(names, groups, strict=True):
        studies = [assessment.study for assessment in group]
        yield files.part(name, (), files.make(Drawing, {"on-all": on_all_models}, studies, name))
