"""Claim 10: what a robust start is worth, the recipe being the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...metrics.intervals import Interval
from ...reports.findings.figures import Words, points
from ...reports.findings.page import Answer, Check
from ...reports.kit.drawing import Drawing
from ...reports.kit.table import Cell, Column, Table
from ...reports.study.assessment import Assessment, title
from .annealed import ahead
from .claim import claims
from .evidence import Evidence, Need
from .runs import BATTERY, CLEAN, CLEAN_START, ROBUST_START, WHOLES, matched
from .seeds import apart, lead

FIGURES = ("accuracy", "nmiou")  # in which the battery attacks
CLEAN_FIGURE = "cmiou"

Assessments = Mapping[str, Assessment]


@claims.register("10-robust-start")
class RobustStart:
    """Begun with robust features (PIR-AT), the same recipe gives more robust models than begun with clean ones."""

    needs: ClassVar[tuple[Need, ...]] = (BATTERY, CLEAN)

    def answer(self, evidence: Evidence) -> Answer:
        """Compare what the battery leaves, and what clean images show, seed by seed on the same images."""
        battery, clean = evidence.assessments(BATTERY), evidence.assessments(CLEAN)
        checks = [*(_sturdier(battery, figure) for figure in FIGURES), _better(clean)]
        return Answer(tuple(checks), (_table(battery, clean),), (_drawing(battery, clean),))


def _sturdier(battery: Assessments, figure: str) -> Check:
    more = ahead(battery, ROBUST_START, CLEAN_START, figure)
    return Check(
        f"Under the battery {ROBUST_START} keeps more {title(figure)} than {CLEAN_START}, on the mean of three seeds"
        " and on each",
        f"{more.words} more",
        more.sure,
    )


def _better(clean: Assessments) -> Check:
    pairs = zip(matched(ROBUST_START), matched(CLEAN_START), strict=True)
    counts = [tuple(clean[name].counts(CLEAN_FIGURE)[0] for name in pair) for pair in pairs]
    more = lead([apart(first, second, CLEAN_FIGURE) for first, second in counts], len(counts[0][0]))
    return Check(
        f"On clean images {ROBUST_START} has more {title(CLEAN_FIGURE)} than {CLEAN_START}, on the mean of three seeds"
        " and on each",
        f"{more.words} more",
        more.sure,
    )


def _table(battery: Assessments, clean: Assessments) -> Table:
    columns = (
        Column("model", "Model"),
        Column("clean", f"{title(CLEAN_FIGURE)}, clean", "interval"),
        *(Column(figure, f"{title(figure)}, battery", "interval") for figure in FIGURES),
    )
    rows: list[tuple[Cell, ...]] = []
    for kind in (ROBUST_START, CLEAN_START, WHOLES[0]):
        for name in matched(kind):
            robust = [battery[name].worst_interval(figure) for figure in FIGURES]
            rows.append((name, clean[name].clean_interval(CLEAN_FIGURE), *robust))
    note = (
        f"{ROBUST_START} begins with the features of {WHOLES[0]} of its seed, so it has had twice the steps;"
        f" {CLEAN_START} with those of the normal network. Both have fresh heads, 5 inner steps and radius 4/255, where"
        f" {WHOLES[0]} has 3 and 0.03."
    )
    return Table("start", "One recipe, two starts", columns, tuple(rows), note)


def _drawing(battery: Assessments, clean: Assessments) -> Drawing:
    rows: dict[str, dict[str, Interval]] = {}
    for kind in (ROBUST_START, CLEAN_START, WHOLES[0]):
        for name in matched(kind):
            rows[name] = {"clean": clean[name].clean_interval("accuracy")}
            rows[name]["battery"] = battery[name].worst_interval("accuracy")
    caption = "Pixels right with 95 % intervals over images. Dotted: one class everywhere."
    around = Words("start", "One recipe, two starts", caption, "pixels right, %")
    return points(around, rows, battery[matched(ROBUST_START)[0]].constant("accuracy"))
