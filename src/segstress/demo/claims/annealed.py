"""Claim 9, ours: whether training on the annealed loss makes models sturdier at equal cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...fitting.train import read_training_plan
from ...metrics.intervals import Interval
from ...planning.perturbing import read_perturbation
from ...reports.findings.figures import Words, points
from ...reports.findings.page import Answer, Check
from ...reports.kit.drawing import Drawing
from ...reports.kit.table import Cell, Column, Table
from ...reports.study.assessment import Assessment, title
from ...training import recipes
from .claim import claims
from .evidence import Evidence, Need
from .runs import ANNEALED, BATTERY, WHOLES, matched
from .seeds import Lead, apart, lead

FIGURES = ("accuracy", "nmiou")  # in which the battery attacks
TRAINING = 2  # passes of a step besides those of its attack: one forward, one backward


@claims.register("09-annealed-training")
class AnnealedTraining:
    """Trained on the annealed loss, models are more robust than by PGD-AT and SegPGD-AT at equal cost (ours)."""

    needs: ClassVar[tuple[Need, ...]] = (BATTERY,)

    def answer(self, evidence: Evidence) -> Answer:
        """Compare what the battery leaves, seed by seed on the same images."""
        battery = evidence.assessments(BATTERY)
        checks = [_cheap(), *(_sturdier(battery, rival, figure) for rival in WHOLES for figure in FIGURES)]
        return Answer(tuple(checks), (_table(battery),), (_drawing(battery),))


def passes(kind: str) -> int:
    """Count forwards and backwards by which a matched training sees one image once."""
    recipe: Any = recipes.build(read_training_plan(f"matched-{kind}", {}).recipe)
    attack: Any = read_perturbation(recipe.attack, {})
    return sum(attack.algorithm.passes()) + TRAINING


def _cheap() -> Check:
    own, *others = (passes(kind) for kind in (ANNEALED, *WHOLES))
    return Check(
        f"{ANNEALED} takes no more passes an image than {' and '.join(WHOLES)}",
        f"{own} and {', '.join(map(str, others))}, forwards and backwards, that of the step itself among them",
        own <= min(others),
    )


def ahead(battery: Mapping[str, Assessment], kind: str, rival: str, figure: str) -> Lead:
    """Return how much more of a figure one training keeps under the battery than another."""
    pairs = [(battery[first], battery[second]) for first, second in zip(matched(kind), matched(rival), strict=True)]
    counts = [(first.worst[figure].counts, second.worst[figure].counts) for first, second in pairs]
    return lead([apart(*both, figure) for both in counts], len(counts[0][0]))


def _sturdier(battery: Mapping[str, Assessment], rival: str, figure: str) -> Check:
    more = ahead(battery, ANNEALED, rival, figure)
    return Check(
        f"Under the battery {ANNEALED} keeps more {title(figure)} than {rival}, on the mean of three seeds and on each",
        f"{more.words} more",
        more.sure,
    )


def _table(battery: Mapping[str, Assessment]) -> Table:
    columns = (
        Column("model", "Model"),
        Column("passes", "Passes an image", "count"),
        Column("clean", "Accuracy, clean", "interval"),
        *(Column(figure, f"{title(figure)}, battery", "interval") for figure in FIGURES),
    )
    rows: list[tuple[Cell, ...]] = []
    for kind in (ANNEALED, *WHOLES):
        for name in matched(kind):
            robust = [battery[name].worst_interval(figure) for figure in FIGURES]
            rows.append((name, passes(kind), battery[name].clean_interval("accuracy"), *robust))
    note = "The battery climbs annealed losses itself; it is the strongest there is here (docs/batteries.md)."
    return Table("annealed", "Three inner losses, all images attacked", columns, tuple(rows), note)


def _drawing(battery: Mapping[str, Assessment]) -> Drawing:
    rows: dict[str, dict[str, Interval]] = {}
    for kind in (ANNEALED, *WHOLES):
        for name in matched(kind):
            rows[name] = {"clean": battery[name].clean_interval("accuracy")}
            rows[name]["battery"] = battery[name].worst_interval("accuracy")
    caption = "Pixels right with 95 % intervals over images. Dotted: one class everywhere."
    around = Words("annealed", "Three inner losses", caption, "pixels right, %")
    return points(around, rows, battery[matched(ANNEALED)[0]].constant("accuracy"))
