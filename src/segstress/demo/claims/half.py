"""Claim 1: what the share of adversarial images is worth, clean and under a battery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ...metrics.intervals import Interval
from ...reports.findings.figures import Words, points
from ...reports.findings.page import Answer, Check, span
from ...reports.kit.drawing import Drawing
from ...reports.kit.naming import percent
from ...reports.kit.table import Cell, Column, Table
from ...reports.study.assessment import Assessment, title
from .annealed import ahead
from .claim import claims
from .evidence import Evidence, Need
from .runs import BATTERY, CLEAN, HALVES, MATCHED, NO_GRAIN, PLAIN, TRAINING_ATTACK, TWINS, WHOLES, matched, share
from .seeds import Lead, apart, lead

LITTLE = 0.1  # of pixels right: almost all robustness is lost
MARGIN = 0.02  # of CmIoU: less is as good
FIGURES = ("accuracy", "accuracy_foreground", "cmiou", "nmiou")

Assessments = Mapping[str, Assessment]


@claims.register("01-half-is-not-enough")
class Half:
    """50 % adversarial images leave clean figures as good as normal and no robustness; 100 % keeps some, at a price."""

    needs: ClassVar[tuple[Need, ...]] = (BATTERY, TRAINING_ATTACK, NO_GRAIN, CLEAN)

    def answer(self, evidence: Evidence) -> Answer:
        """Compare clean, under the attack of the training, and under the battery."""
        battery, short, clean = (evidence.assessments(need) for need in (BATTERY, TRAINING_ATTACK, CLEAN))
        twins = {name: evidence.assessments(NO_GRAIN)[name] for name in TWINS}
        checks = [check for kind in HALVES for check in (_as_good(clean, kind), _lost(battery, short, kind))]
        checks += [_more(battery, *pair) for pair in zip(WHOLES, HALVES, strict=True)]
        checks += [check for kind in WHOLES for check in (_kept(battery, kind), _paid(clean, kind))]
        checks.append(_grain(battery, twins))
        rows = {name: battery[name] for name in (*PLAIN, *MATCHED)}
        rows |= {f"{name} (no grain in the images)": twin for name, twin in twins.items()}
        return Answer(tuple(checks), (_table(rows, short),), (_drawing(rows, short),))


def price(clean: Assessments, kind: str, figure: str) -> Lead:
    """Return what normal networks have more on clean images than those trained from them."""
    before, after = ([clean[name].counts(figure)[0] for name in names] for names in (PLAIN, matched(kind)))
    return lead([apart(*pair, figure) for pair in zip(before, after, strict=True)], len(before[0]))


def _as_good(clean: Assessments, kind: str) -> Check:
    lost = price(clean, kind, "cmiou")
    return Check(
        f"On clean images {kind} has less than {percent(MARGIN)} points of CmIoU below the normal networks it began"
        " with, on the mean of three seeds",
        f"{lost.words} below",
        lost.mean.high < MARGIN,
    )


def _lost(battery: Assessments, short: Assessments, kind: str) -> Check:
    before = [short[name].worst_interval("accuracy") for name in matched(kind)]
    left = [battery[name].worst_interval("accuracy") for name in matched(kind)]
    constant = battery[matched(kind)[0]].constant("accuracy")
    return Check(
        f"{kind} withstands the short attack of {HALVES[0]}'s training better than a constant answer would, and keeps"
        f" less than {percent(LITTLE)} % of its pixels right under the battery, on every seed",
        f"{_listed(before)} % under the short attack, {_listed(left)} % under the battery; constant"
        f" {percent(constant)} %",
        min(figure.low for figure in before) > constant and max(figure.high for figure in left) < LITTLE,
    )


def _more(battery: Assessments, whole: str, half: str) -> Check:
    more = ahead(battery, whole, half, "accuracy")
    return Check(
        f"{whole} keeps more pixels right under the battery than {half}, on the mean of three seeds and on each",
        f"{more.words} more",
        more.sure,
    )


def _kept(battery: Assessments, kind: str) -> Check:
    models = [battery[name] for name in matched(kind)]
    counts = [(model.worst["nmiou"].counts, model.constant_counts("nmiou")) for model in models]
    more = lead([apart(*pair, "nmiou") for pair in counts], len(counts[0][0]))
    return Check(
        f"Under the battery {kind} keeps more NmIoU than a model that says {models[0].commonest} everywhere, on the"
        " mean of three seeds and on each",
        f"{more.words} more; constant {percent(models[0].constant('nmiou'))} %",
        more.sure,
    )


def _paid(clean: Assessments, kind: str) -> Check:
    paid = price(clean, kind, "accuracy")
    return Check(
        f"On clean images {kind} has fewer pixels right than the normal networks it began with, on the mean of three"
        " seeds and on each",
        f"{paid.words} fewer",
        paid.sure,
    )


def _grain(battery: Assessments, twins: Assessments) -> Check:
    """Compare on the same scenes, drawn with the grain and without it."""
    pairs = [(twins[twin], battery[half]) for twin, half in zip(TWINS, matched(HALVES[0]), strict=True)]
    figure = "accuracy_foreground"
    counts = [(twin.worst[figure].counts, half.worst[figure].counts) for twin, half in pairs]
    more = lead([apart(*both, figure) for both in counts], len(counts[0][0]))
    return Check(
        f"Without the grain, which shapes carries by design, the fall is smaller: {HALVES[0]} made without it keeps"
        f" more of the foreground under the battery, on scenes without it, than {HALVES[0]}, on the mean of three seeds"
        " and on each",
        f"{more.words} more",
        more.sure,
    )


def _listed(figures: Sequence[Interval]) -> str:
    return ", ".join(map(span, figures))


def _table(assessments: Assessments, short: Assessments) -> Table:
    columns = (
        Column("model", "Model"),
        Column("share", "Adversarial images", "share"),
        Column("accuracy_clean", "Accuracy, clean", "interval"),
        Column("cmiou_clean", "CmIoU, clean", "interval"),
        Column("accuracy_short", "Accuracy, attack of the training", "interval"),
        *(Column(f"{figure}_robust", f"{title(figure)}, battery", "interval") for figure in FIGURES),
    )
    rows = tuple(_row(name, assessment, short.get(name)) for name, assessment in assessments.items())
    first = next(iter(assessments.values()))
    same = [_sure(first.constant(figure)) for figure in ("accuracy", "cmiou", "accuracy", *FIGURES)]
    rows += (("one class everywhere", 0.0, *same),)
    note = (
        "95 % intervals over images. Last line: a model that looks at nothing, under any attack, and says"
        f" {first.commonest}; over the foreground the commonest of the other classes."
    )
    return Table("shares", "Clean, under the attack of the training, under the battery", columns, rows, note)


def _row(name: str, assessment: Assessment, short: Assessment | None) -> tuple[Cell, ...]:
    nothing = _sure(float("nan"))
    return (
        *(
            name,
            share(assessment.study.model),
            assessment.clean_interval("accuracy"),
            assessment.clean_interval("cmiou"),
        ),
        nothing if short is None else short.worst_interval("accuracy"),
        *(assessment.worst_interval(figure) for figure in FIGURES),
    )


def _sure(value: float) -> Interval:
    return Interval(value, value, value)


def _drawing(assessments: Assessments, short: Assessments) -> Drawing:
    rows = {}
    for name, assessment in assessments.items():
        rows[name] = {"clean": assessment.clean_interval("accuracy"), "battery": assessment.worst_interval("accuracy")}
        if name in short:
            rows[name]["attack of the training"] = short[name].worst_interval("accuracy")
    first = next(iter(assessments.values()))
    caption = (
        "Pixels right with 95 % intervals over images. Dotted: a model that says"
        f" {first.commonest} everywhere; what is not right of it shows no robustness."
    )
    around = Words("shares", "What each training is worth", caption, "pixels right, %")
    return points(around, rows, first.constant("accuracy"))
