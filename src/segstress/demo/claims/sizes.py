"""Claim 3: small objects fall first, and which figures show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...metrics.intervals import GAIN, SHARE, Interval, interval_of
from ...metrics.worst_case import NOBODY
from ...reports.findings.figures import Words, curves
from ...reports.findings.page import Answer, Check, span
from ...reports.kit.drawing import Drawing
from ...reports.kit.naming import percent
from ...reports.kit.table import Cell, Column, Table
from ...reports.study.assessment import Assessment, title
from .claim import claims
from .evidence import Evidence, Need
from .runs import BATTERY

GROUPS = 4  # of objects by area
FLOOR = 0.1  # foreground accuracy below which all objects lie on the ground


@claims.register("3-small-objects")
class Sizes:
    """Size bias: small objects fall first; CmIoU, which pools all pixels, says less of it than NmIoU and the curve."""

    needs: ClassVar[tuple[Need, ...]] = (BATTERY,)

    def answer(self, evidence: Evidence) -> Answer:
        """Return the survival of the smallest quarter of the objects beside that of the largest."""
        assessments = evidence.assessments(BATTERY)
        survivors = {
            name: assessment
            for name, assessment in assessments.items()
            if assessment.worst_score("accuracy_foreground") >= FLOOR
        }
        checks = [_check(name, assessment) for name, assessment in survivors.items()]
        checks.append(_pooled(survivors))
        return Answer(
            tuple(checks), (_table(assessments), _right(assessments)), (_drawing(survivors),) if survivors else ()
        )


@dataclass(frozen=True, eq=False)
class Survival:
    """Pixels of the objects by image and group of size."""

    area: np.ndarray  # (images, groups)
    clean: np.ndarray  # right on clean images
    worst: np.ndarray  # right in the worst case
    kept: np.ndarray  # right in both
    areas: tuple[int, ...]  # largest of each group, pixels

    def shares(self, weights: np.ndarray) -> np.ndarray:
        """Return the share of pixels right clean that survive in each group, for each draw of images."""
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: np.ndarray = (weights @ self.kept) / (weights @ self.clean)
        return shares

    def share(self, group: int) -> Interval:
        """Return the share of one group, with its interval."""
        return interval_of(lambda weights: self.shares(weights)[:, group], len(self.clean), within=SHARE)

    def lead(self) -> Interval:
        """Return the lead of the largest objects over the smallest."""

        def lead(weights: np.ndarray) -> np.ndarray:
            apart: np.ndarray = self.shares(weights)[:, -1] - self.shares(weights)[:, 0]
            return apart

        return interval_of(lead, len(self.clean), within=GAIN)


def survival(assessment: Assessment) -> Survival:
    """Group objects equally by area; each image under the attack that is worst for its accuracy."""
    objects, worst_attack = assessment.study.objects, assessment.worst["accuracy"].chosen
    known = worst_attack[objects.image] != NOBODY

    def in_worst(after: Mapping[str, np.ndarray]) -> np.ndarray:
        pixels = np.stack([objects.clean, *(after[label] for label in assessment.labels[1:])])
        worst: np.ndarray = pixels[worst_attack[objects.image], np.arange(len(objects.image))]
        return worst

    edges = np.quantile(objects.area[known], np.arange(1, GROUPS) / GROUPS)
    group = np.searchsorted(edges, objects.area)
    tables = np.zeros((4, len(assessment.study.ids), GROUPS))
    counted = (objects.area, objects.clean, in_worst(objects.correct), in_worst(objects.kept))
    for table, pixels in zip(tables, counted, strict=True):
        np.add.at(table, (objects.image[known], group[known]), pixels[known])
    largest = tuple(int(objects.area[known & (group == number)].max(initial=0)) for number in range(GROUPS))
    area, clean, worst, kept = tables
    return Survival(area, clean, worst, kept, largest)


def _check(name: str, assessment: Assessment) -> Check:
    survived = survival(assessment)
    lead = survived.lead()
    return Check(
        f"Of the pixels that {name} has right on clean images, fewer survive the battery in the smallest quarter of"
        " the objects than in the largest",
        f"{span(survived.share(0))} % and {span(survived.share(-1))} %, difference {span(lead)} points",
        lead.low > 0,
    )


def _kept(assessment: Assessment, figure: str) -> float:
    return assessment.worst_score(figure) / assessment.score(figure)


def _pooled(survivors: Mapping[str, Assessment]) -> Check:
    """Check whether the image-wise figure sees the loss of small objects that pooling hides."""
    lower = [name for name, assessment in survivors.items() if _kept(assessment, "nmiou") < _kept(assessment, "cmiou")]
    shown = ", ".join(
        f"{name} {percent(_kept(assessment, 'cmiou'))} % of CmIoU and {percent(_kept(assessment, 'nmiou'))} % of NmIoU"
        for name, assessment in survivors.items()
    )
    return Check(
        "NmIoU, which pools nothing, loses a larger part than CmIoU",
        f"kept {shown}" if survivors else "no model still stands",
        bool(survivors) and len(lower) == len(survivors),
    )


def _table(assessments: Mapping[str, Assessment]) -> Table:
    columns = (
        Column("model", "Model"),
        *(Column(f"{figure}_kept", f"{title(figure)}, share kept", "share") for figure in ("cmiou", "nmiou")),
        *(
            Column(f"quarter_{number}", f"Quarter {number} by area, share kept", "interval")
            for number in range(1, GROUPS + 1)
        ),
        Column("lead", "Largest - smallest", "interval"),
        Column("foreground", "Accuracy, foreground, battery", "interval"),
        Column("constant", "One class everywhere, accuracy", "share"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, assessment in assessments.items():
        kept = survival(assessment)
        figures = [_kept(assessment, figure) for figure in ("cmiou", "nmiou")]
        quarters = [kept.share(group) for group in range(GROUPS)]
        ends = (kept.lead(), assessment.worst_interval("accuracy_foreground"), assessment.constant("accuracy"))
        rows.append((name, *figures, *quarters, *ends))
    note = (
        "Objects are connected pieces of the truth. Share kept: the figure in the worst case over the clean one; for"
        " objects the share of the pixels right on clean images that are still right. A model with less than"
        f" {percent(FLOOR)} % of the foreground left is listed and not judged: there is nothing to fall first."
    )
    return Table("sizes", "What is left, by figure and by size", columns, tuple(rows), note)


def _right(assessments: Mapping[str, Assessment]) -> Table:
    """Return what is right before and after, for readers who doubt a ratio of small numbers."""
    columns = (
        Column("model", "Model"),
        *(
            Column(f"{state}_{number}", f"Quarter {number}, {state}", "share")
            for state in ("clean", "battery")
            for number in range(1, GROUPS + 1)
        ),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, assessment in assessments.items():
        seen = survival(assessment)
        shares = [right.sum(0) / seen.area.sum(0) for right in (seen.clean, seen.worst)]
        rows.append((name, *(float(share) for state in shares for share in state)))
    areas = ", ".join(map(str, survival(next(iter(assessments.values()))).areas))
    note = (
        f"Share of the pixels of a quarter's objects that is right; areas up to {areas} pixels. A whole object has at"
        " least about 18 (a triangle of diameter 6); smaller pieces are what others leave of one. Pixels that an attack"
        " sets right by chance count here, and not among those that survive."
    )
    return Table("right", "What is right, by size", columns, tuple(rows), note)


def _drawing(survivors: Mapping[str, Assessment]) -> Drawing:
    lines = {}
    for name, assessment in survivors.items():
        kept = survival(assessment)
        lines[name] = (kept.areas, (100 * kept.shares(np.ones((1, len(kept.clean))))[0]).tolist())
    caption = (
        "Objects in quarters by area: of the pixels right on clean images, those that survive the battery. A line that"
        " rises says that small objects fall first."
    )
    around = Words("sizes", "Survival by size", caption, "area of the objects up to, pixels", "kept, %")
    return curves(around, lines, logarithmic=True)
