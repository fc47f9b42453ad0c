"""What a worst case lacks: images that a perturbation has no answer for, and how far they leave a figure open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...results.study import Outcome, Study
from ..kit.naming import percent, plural
from .assessment import Assessment
from .figure_names import headline, title
from .sparing import lowered

NAMED = 5  # images that a sentence names


class Range(NamedTuple):
    """A worst case between two suppositions on the images without an answer."""

    low: float  # all their pixels are lost
    high: float  # they stay as the answers that there are leave them


def unanswered(assessment: Assessment) -> np.ndarray:
    """Mark the images (images,) that some perturbation should have been tried on, and that have no answer of it."""
    study = assessment.study
    lacking = [_lacking(study, outcome) for outcome in study.outcomes]
    marked: np.ndarray = assessment.answered[0] & np.any([np.zeros(len(study.ids), bool), *lacking], axis=0)
    return marked


def left_out(assessment: Assessment) -> np.ndarray:
    """Mark the images (images,) without a clean prediction, which no figure counts; one without a truth is none."""
    study = assessment.study
    marked: np.ndarray = ~study.clean_answered & ~np.isin(study.ids, study.skipped)
    return marked


def complete(assessment: Assessment) -> bool:
    """Tell whether every figure rests on all images that were asked for."""
    return not (unanswered(assessment).any() or left_out(assessment).any())


def worst_range(assessment: Assessment, figure: str) -> Range:
    """Return the worst case if the images without an answer were all lost, and if they stayed as they are."""
    high = assessment.worst_score(figure)
    return Range(high - lowered(assessment, figure, unanswered(assessment)), high)


def warnings(assessment: Assessment) -> Iterator[str]:
    """Say what is missing, at the top of a page and of a terminal's table."""
    ids, open_, absent = np.array(assessment.study.ids), unanswered(assessment), left_out(assessment)
    if open_.any():
        spans = (worst_range(assessment, figure) for figure in headline())
        words = (
            f"{title(figure)} {percent(span.low)} to {percent(span.high)}"
            for figure, span in zip(headline(), spans, strict=True)
        )
        yield (
            f"INCOMPLETE: of {plural(len(ids), 'image')}, {open_.sum()} have no answer of some perturbation"
            f" ({_some(ids[open_])}). The worst case lies between all of them lost and all of them as they are:"
            f" {', '.join(words)}. Run the same command again, with --retry-errors for those that failed."
        )
    if absent.any():
        yield (
            f"INCOMPLETE: of {plural(len(ids), 'image')}, {absent.sum()} have no clean prediction and are in no figure"
            f" ({_some(ids[absent])})."
        )
    for fault in assessment.study.damage:
        yield f"CHANGED SINCE IT WAS WRITTEN: {fault}"


def _lacking(study: Study, outcome: Outcome) -> np.ndarray:
    """Mark the images without an answer, spared ones and those that an audit left out excepted."""
    excused = set(outcome.rows.images("skipped"))
    if study.choice and outcome.label in study.choice.dropped:
        tried = {row.image for row in outcome.rows}
        excused |= set(study.ids) - tried
    return ~outcome.answered & ~np.isin(study.ids, sorted(excused))


def _some(ids: np.ndarray) -> str:
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more
