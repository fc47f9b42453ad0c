"""Claim 2: one attack is not enough even with all the passes, and no attack is the strongest for every model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...metrics.intervals import Difference, Interval, difference
from ...metrics.worst_case import choose_worst
from ...reports.findings.figures import Words, points
from ...reports.findings.page import Answer, Check, span
from ...reports.kit.drawing import Drawing
from ...reports.kit.table import Cell, Column, Rows, Table
from ...reports.study.assessment import Assessment, metric_of, title
from ...reports.study.figure_names import declaration_of
from .claim import claims
from .evidence import Evaluation, Evidence, Need
from .runs import BATTERY, EPS, NUMBERS, PLAIN, WHOLES, data, matched, named
from .seeds import Lead, apart, lead

ROBUST = matched(WHOLES[0])
FIGURES = ("accuracy", "nmiou")  # in which attacks are compared
SECOND = {"accuracy": "annealed-error", "nmiou": "annealed-iou"}  # the battery's strongest by each, on shapes:val
NUMBER = {"accuracy": 2, "nmiou": 3}  # of that attack in the battery
PASSES = {"accuracy": 305, "nmiou": 380}  # steps of a second start: with those of the first, as many as the battery
PUBLISHED = ("padam-ce", "padam-cos", "sea-jsd", "sea-mce", "sea-msl", "sea-bce")
SINGLE = (*PUBLISHED, "annealed-error")
STEPS = 60  # of each of them
BETWEEN = "2/255"  # where normal networks have something to lose; at 4/255, asked before, nothing was left of them


def _restarts(images: int) -> dict[str, Any]:
    attacks = [{"attack": SECOND[figure], "steps": PASSES[figure]} for figure in FIGURES]
    return {"models": named(*ROBUST), "data": data(images), "perturbations": attacks, "eps": EPS, "seed": 1}


def _exhaustive(images: int) -> dict[str, Any]:
    attacks = [{"attack": name, "steps": STEPS} for name in SINGLE]
    asked = {"perturbations": attacks, "eps": BETWEEN, "exhaustive": True}
    return {"models": named(*PLAIN, *ROBUST), "data": data(images), **asked}


RESTARTS = Evaluation("restarts", _restarts)
EXHAUSTIVE = Evaluation("exhaustive", _exhaustive)


@claims.register("02-aggregate")
class Aggregate:
    """The aggregate beats its strongest attack with all its passes; normal and robust models fall to other attacks."""

    needs: ClassVar[tuple[Need, ...]] = (BATTERY, RESTARTS, EXHAUSTIVE)

    def answer(self, evidence: Evidence) -> Answer:
        """Hold the aggregate against two starts of one attack, and every attack against every other."""
        battery, second, single = (evidence.assessments(need) for need in (BATTERY, RESTARTS, EXHAUSTIVE))
        gains = {figure: _gain(battery, second, figure) for figure in FIGURES}
        checks = [_stronger(figure, gains[figure]) for figure in FIGURES]
        checks += [_different(single, figure, among) for among in (SINGLE, PUBLISHED) for figure in FIGURES]
        return Answer(tuple(checks), (_table(battery, second), _winners(single)), (_drawing(single),))


def restarted(first: Assessment, second: Assessment, figure: str) -> np.ndarray:
    """Return the counts of the worse of two starts, image by image."""
    labels = (first.labels[NUMBER[figure]], second.labels[1 + FIGURES.index(figure)])
    pairs = [(side, side.labels.index(label)) for side, label in zip((first, second), labels, strict=True)]
    counts = np.stack([side.counts(figure)[number] for side, number in pairs])
    answered = np.stack([side.answered[number] for side, number in pairs])
    return choose_worst(declaration_of(figure), counts, answered).counts


def _gain(battery: Mapping[str, Assessment], second: Mapping[str, Assessment], figure: str) -> Lead:
    models = [(battery[name], second[name]) for name in ROBUST]
    gains = [apart(restarted(*pair, figure), pair[0].worst[figure].counts, figure) for pair in models]
    return lead(gains, len(models[0][0].study.ids))


def _stronger(figure: str, gain: Lead) -> Check:
    return Check(
        f"The aggregate leaves less {title(figure)} than two starts of {SECOND[figure]}, its strongest, with the passes"
        f" of the whole battery, on the mean of three seeds of {WHOLES[0]} and on each",
        f"{gain.words} less",
        gain.sure,
    )


def strongest(assessment: Assessment, figure: str, among: Sequence[str]) -> str:
    """Return the attack of these that alone leaves the least of a figure."""
    labels = [label for label in assessment.labels[1:] if label.startswith(tuple(among))]
    return min(labels, key=lambda label: assessment.score(figure, label))


def gap(assessment: Assessment, attack: str, other: str, figure: str) -> Difference:
    """Return what one attack leaves more than another, on the same images."""
    first, second = (assessment.counts(figure)[assessment.labels.index(label)] for label in (attack, other))
    return difference(first, second, metric_of(figure))


def _different(single: Mapping[str, Assessment], figure: str, among: Sequence[str]) -> Check:
    holds, shown = True, []
    for seed, plain, robust in zip(NUMBERS, PLAIN, ROBUST, strict=True):
        normal, sturdy = (strongest(single[name], figure, among) for name in (plain, robust))
        gaps = (gap(single[plain], sturdy, normal, figure), gap(single[robust], normal, sturdy, figure))
        holds = holds and normal != sturdy and min(apart.low for apart in gaps) > 0
        words = " and ".join(map(span, gaps))
        shown.append(f"seed {seed}: {normal} and {sturdy}, the other leaving {words} points more")
    which = "attack" if among == SINGLE else "published attack"
    return Check(
        f"On every seed the {which} that leaves a normal network the least {title(figure)} is surely not the one that"
        f" leaves {WHOLES[0]} the least, and the other way round, at {BETWEEN}",
        "; ".join(shown),
        holds,
    )


def _table(battery: Mapping[str, Assessment], second: Mapping[str, Assessment]) -> Table:
    columns = (
        Column("model", "Model"),
        Column("figure", "Figure"),
        Column("alone", "Strongest attack alone", "share"),
        Column("restarted", "Two starts, passes of the battery", "share"),
        Column("aggregate", "Aggregate", "share"),
        Column("gain", "Restarts - aggregate", "interval"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name in ROBUST:
        for figure in FIGURES:
            assessment, counts = battery[name], restarted(battery[name], second[name], figure)
            alone = assessment.score(figure, assessment.labels[NUMBER[figure]])
            values = (alone, float(metric_of(figure)(counts)), assessment.worst_score(figure))
            gain = difference(counts, assessment.worst[figure].counts, metric_of(figure))
            rows.append((name, title(figure), *values, gain))
    note = f"Attacks on {EPS}; both sides take 565 forwards and backwards an image."
    return Table("restarts", "All attacks, or one with all the passes", columns, tuple(rows), note)


def _winners(single: Mapping[str, Assessment]) -> Table:
    attacks = next(iter(single.values())).labels[1:]
    columns = (Column("model", "Model"), *(Column(attack, attack, "share") for attack in attacks))
    rows: Rows = tuple(
        (name, *(assessment.score("accuracy", attack) for attack in attacks)) for name, assessment in single.items()
    )
    note = f"Accuracy under each attack alone, {STEPS} steps at {BETWEEN}, every attack on every image."
    return Table("single", "What each attack leaves", columns, rows, note)


def _drawing(single: Mapping[str, Assessment]) -> Drawing:
    rows: dict[str, dict[str, Interval]] = {}
    for name, assessment in single.items():
        alone = {label: assessment.score("accuracy", label) for label in assessment.labels[1:]}
        rows[name] = {label: Interval(value, value, value) for label, value in alone.items()}
    caption = f"Pixels right under each attack alone, at {BETWEEN}."
    return points(Words("single", "What each attack leaves", caption, "pixels right, %"), rows)
