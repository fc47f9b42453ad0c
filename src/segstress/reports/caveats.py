"""What the way a run was carried out leaves open about its figures, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from ..metrics.counts import ACTUAL, HITS
from ..metrics.intervals import Interval
from ..metrics.scores import image_accuracy
from .assessment import Assessment
from .naming import percent, plural
from .study import Choice

ROUNDING = 1e-9  # of a share of pixels


def caveats(judged: Assessment) -> list[str]:
    """Every sentence that a reader of the worst case must know."""
    return [*_adaptive(judged.study.choice), *_finished(judged)]


def _adaptive(choice: Choice | None) -> Iterator[str]:
    """What an audit left out, and what that costs."""
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
        f"Adaptive battery: all {tried} attacks were tried on a sample of {plural(choice.images, 'image')}, and on the"
        f" others only those worth their passes there: {', '.join(choice.kept)}. Dropped: {', '.join(choice.dropped)}."
        f" On those others this leaves worst-case accuracy too high by an estimated {_points(choice.loss_accuracy)},"
        f" NmIoU by {_points(choice.loss_nmiou)}."
    )


def _points(loss: Interval) -> str:
    return f"{percent(loss.value)} points (95 % interval {percent(loss.low)} to {percent(loss.high)})"


def _finished(judged: Assessment) -> Iterator[str]:
    """The bound on what was not sought because few enough pixels were left."""
    if not judged.study.done_at:
        return
    worst = judged.worst["accuracy"].counts
    few = image_accuracy(worst) <= judged.study.done_at + ROUNDING
    spared = judged.untried & few  # an audit leaves images untried too, whatever stands on them
    bound = worst[spared][..., HITS].sum() / max(worst[..., ACTUAL].sum(), 1)
    yield (
        f"An image with at most {100 * judged.study.done_at:g} % of its pixels right counted as finished and was spared"
        f" the rest of the battery, {plural(int(spared.sum()), 'image')} in all: worst-case accuracy may be lower than"
        f" stated by at most {percent(bound)} points. Worst-case mIoU may be lower too."
    )
