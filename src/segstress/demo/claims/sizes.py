"""Claim 3: small objects fall first, and the figure that pools nothing shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...metrics.intervals import GAIN, SHARE, Interval, Statistic, interval_of
from ...metrics.worst_case import NOBODY
from ...reports.findings.figures import Words, curves
from ...reports.findings.page import Answer, Check
from ...reports.kit.drawing import Drawing
from ...reports.kit.table import Cell, Column, Table
from ...reports.study.assessment import Assessment, metric_of, title
from .claim import claims
from .evidence import Evidence, Need
from .runs import ANNEALED, BATTERY, WHOLES, matched
from .seeds import lead

GROUPS = 4  # of objects by area
KINDS = (*WHOLES, ANNEALED)  # of models that something is left of: where nothing is, nothing falls first

Assessments = Mapping[str, Assessment]


@claims.register("03-small-objects")
class Sizes:
    """Size bias: small objects fall first, and NmIoU, which pools nothing, loses a larger part than CmIoU."""

    needs: ClassVar[tuple[Need, ...]] = (BATTERY,)

    def answer(self, evidence: Evidence) -> Answer:
        """Return the survival of the smallest quarter of the objects beside that of the largest."""
        battery = evidence.assessments(BATTERY)
        models = {name: battery[name] for kind in KINDS for name in matched(kind)}
        checks = [check(models, kind) for kind in KINDS for check in (_smaller, _pooled)]
        return Answer(tuple(checks), (_table(models), _right(models)), (_drawing(models),))


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

    def lead(self, weights: np.ndarray) -> np.ndarray:
        """Return the lead of the largest objects over the smallest, for each draw of images."""
        apart: np.ndarray = self.shares(weights)[:, -1] - self.shares(weights)[:, 0]
        return apart


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


def _smaller(models: Assessments, kind: str) -> Check:
    survivals = [survival(models[name]) for name in matched(kind)]
    more = lead([survived.lead for survived in survivals], len(survivals[0].clean))
    return Check(
        f"Of the pixels that {kind} has right on clean images, fewer survive the battery in the smallest quarter of the"
        " objects than in the largest, on the mean of three seeds and on each",
        f"{more.words} fewer",
        more.sure,
    )


def kept(assessment: Assessment, figure: str) -> Statistic:
    """Return what the battery leaves of a figure, as a share of what it is on clean images."""
    clean, worst, metric = assessment.counts(figure)[0], assessment.worst[figure].counts, metric_of(figure)

    def share(weights: np.ndarray) -> np.ndarray:
        values: np.ndarray = metric(worst, weights=weights) / metric(clean, weights=weights)
        return values

    return share


def _hidden(assessment: Assessment) -> Statistic:
    """Return the share kept of CmIoU minus that of NmIoU."""
    pooled, by_image = kept(assessment, "cmiou"), kept(assessment, "nmiou")

    def apart(weights: np.ndarray) -> np.ndarray:
        values: np.ndarray = pooled(weights) - by_image(weights)
        return values

    return apart


def _pooled(models: Assessments, kind: str) -> Check:
    """Check whether the image-wise figure sees the loss of small objects that pooling hides."""
    more = lead([_hidden(models[name]) for name in matched(kind)], len(models[matched(kind)[0]].study.ids))
    return Check(
        f"{kind} keeps a smaller share of its NmIoU than of its CmIoU under the battery, on the mean of three seeds and"
        " on each",
        f"{more.words} less",
        more.sure,
    )


def _table(assessments: Assessments) -> Table:
    columns = (
        Column("model", "Model"),
        *(Column(f"{figure}_kept", f"{title(figure)}, share kept", "interval") for figure in ("cmiou", "nmiou")),
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
        survived = survival(assessment)
        figures = [
            interval_of(kept(assessment, figure), len(assessment.study.ids), within=SHARE)
            for figure in ("cmiou", "nmiou")
        ]
        quarters = [survived.share(group) for group in range(GROUPS)]
        ends = (
            interval_of(survived.lead, len(survived.clean), within=GAIN),
            assessment.worst_interval("accuracy_foreground"),
            assessment.constant("accuracy"),
        )
        rows.append((name, *figures, *quarters, *ends))
    note = (
        "Objects are connected pieces of the truth. Share kept: the figure in the worst case over the clean one; for"
        " objects the share of the pixels right on clean images that are still right."
    )
    return Table("sizes", "What is left, by figure and by size", columns, tuple(rows), note)


def _right(assessments: Assessments) -> Table:
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


def _drawing(models: Assessments) -> Drawing:
    lines = {}
    for name, assessment in models.items():
        survived = survival(assessment)
        lines[name] = (survived.areas, (100 * survived.shares(np.ones((1, len(survived.clean))))[0]).tolist())
    caption = (
        "Objects in quarters by area: of the pixels right on clean images, those that survive the battery. A line that"
        " rises says that small objects fall first."
    )
    around = Words("sizes", "Survival by size", caption, "area of the objects up to, pixels", "kept, %")
    return curves(around, lines, logarithmic=True)
