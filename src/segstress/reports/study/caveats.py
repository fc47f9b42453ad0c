"""What the way a run was carried out leaves open about its figures, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from ...metrics.intervals import Interval
from ...results.study import AttackSelection, Study
from ..kit.naming import percent, plural
from .assessment import Assessment
from .figure_names import headline, title
from .sparing import slack, spared

FIRST_LOOK = "quick is a first look; strong leaves less"


def first_look(study: Study) -> str:
    """Return what to say beside a figure of the smallest battery; nothing of others."""
    return FIRST_LOOK if study.battery.split(" ")[0] == "quick" else ""


def caveats(assessment: Assessment) -> list[str]:
    """Return every sentence that a reader of the worst case must know."""
    return [*_remaining(assessment.study), *_adaptive(assessment.study.choice), *_finished(assessment)]


def _remaining(study: Study) -> Iterator[str]:
    """Yield what trying much harder than the battery found elsewhere."""
    if study.gap is not None:
        yield (
            f"Ten times the effort, in several ways together, lowered the figures of {study.battery} by at most"
            f" {study.gap.accuracy:.2f} points of accuracy and {study.gap.nmiou:.2f} of NmIoU on the embedded robust"
            f" models {', '.join(study.gap.models)} at {', '.join(study.gap.threats)} (measured, see"
            " docs/batteries.md); on other models and at other radii it may be more."
        )


def _adaptive(choice: AttackSelection | None) -> Iterator[str]:
    """Yield what an audit left out, and what that costs."""
    if choice is None:
        return
    tried = len(choice.kept) + len(choice.dropped)
    if not choice.dropped:
        yield (
            f"Adaptive battery: all {tried} attacks proved worth their passes on a sample of"
            f" {plural(choice.images, 'image')}, and none was dropped."
        )
        return
    yield (
        f"Adaptive battery: all {tried} attacks were tried on a sample of {plural(choice.images, 'image')}, each spared"
        " what an earlier one had finished, and on the others only those worth their passes there:"
        f" {', '.join(choice.kept)}. Dropped: {', '.join(choice.dropped)}."
        f" On those others this leaves worst-case accuracy too high by an estimated {_points(choice.loss_accuracy)},"
        f" NmIoU by {_points(choice.loss_nmiou)}."
    )


def _points(loss: Interval) -> str:
    return f"{percent(loss.value)} points (95 % interval {percent(loss.low)} to {percent(loss.high)})"


def _finished(assessment: Assessment) -> Iterator[str]:
    """Yield what was not sought because few enough pixels were left, and the bounds on it."""
    images, share = int(spared(assessment).sum()), 100 * assessment.study.done_at
    if not images:
        return
    left = f"with at most {share:g} % of its pixels right" if share else "without a correct pixel"
    lower = ", ".join(f"{title(figure)} by {percent(slack(assessment, figure))}" for figure in headline())
    yield (
        f"An image {left} counted as finished and was spared the rest of the battery, {plural(images, 'image')} in all."
        f" Without this the worst case might be lower, in points at most: {lower}."
    )
