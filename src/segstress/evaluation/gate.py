"""A gate for continuous integration: which figures of a run fell below a threshold, or behind another run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..core import BadInput
from ..core.registry import suggest
from ..core.shares import parse_share
from ..metrics.intervals import Difference, difference
from ..reports.study.assessment import Assessment, assess
from ..reports.study.completeness import warnings
from ..reports.study.figure_names import figures, headline, metric_of
from ..results.study import Study

Thresholds = Mapping[str, float]


class Fall(NamedTuple):
    """Something that closes the gate: a figure that fell, or a run that is not whole."""

    model: str
    data: str
    threat: str
    figure: str  # empty where the run itself is at fault
    words: str

    @property
    def line(self) -> str:
        """The fall in one line."""
        under = f" under {self.threat}" if self.threat else ""
        return f"{self.model} on {self.data}{under}: {self.words}"


def read_thresholds(texts: Iterable[str]) -> Thresholds:
    """Read `accuracy=0.4`; an unknown figure or a value that is no share is refused."""
    thresholds = {}
    for text in texts:
        figure, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--fail-under: expected figure=share such as accuracy=0.4, found '{text}'")
        if figure not in figures():
            raise BadInput(f"--fail-under: unknown figure '{figure}'; {suggest(figure, figures())}")
        thresholds[figure] = parse_share(value)
    return thresholds


def falls(
    studies: Sequence[Study], thresholds: Thresholds, against: Sequence[Study] = (), worse_by: float = 0.0
) -> Iterator[Fall]:
    """Yield all that speaks against letting a run through; `worse_by` is in points."""
    baselines = [assess(study) for study in against]
    for assessment in map(assess, studies):
        reasons = [("", words) for words in warnings(assessment)]
        reasons += _below(assessment, thresholds)
        if against:
            partner = _partner(assessment.study, baselines)
            reasons += [("", f"the baseline: {words}") for words in warnings(partner)]
            reasons += _behind(assessment, partner, tuple(dict.fromkeys((*headline(), *thresholds))), worse_by)
        study = assessment.study
        yield from (Fall(study.model, study.data, study.threat, figure, words) for figure, words in reasons)


def _below(assessment: Assessment, thresholds: Thresholds) -> Iterator[tuple[str, str]]:
    for figure, least in thresholds.items():
        value = assessment.worst_score(figure)
        if not value >= least:  # NaN, where the data has no such figure, is no pass
            yield figure, f"{figure} is {_points(value)} %, below {_points(least)} %"


def _behind(
    assessment: Assessment, baseline: Assessment, names: Sequence[str], worse_by: float
) -> Iterator[tuple[str, str]]:
    for figure in names:
        gain = _gain(assessment, baseline, figure)
        if gain.high < -worse_by / 100:
            span = f"{_points(gain.low)} to {_points(gain.high)}"
            yield (
                figure,
                f"{figure} is {_points(-gain.value)} points below {baseline.study.model} of the baseline"
                f" (difference {span}), more than {worse_by:g}",
            )


def _gain(assessment: Assessment, baseline: Assessment, figure: str) -> Difference:
    """Return the worst case minus the baseline's, over the images that both have answered."""
    ours, theirs = assessment.study, baseline.study
    _, first, second = np.intersect1d(ours.ids, theirs.ids, assume_unique=True, return_indices=True)
    both = assessment.answered[0][first] & baseline.answered[0][second]
    if not both.any():
        raise BadInput(f"--against: {ours.model} and {theirs.model} have no image of {ours.data} in common")
    counts = assessment.worst[figure].counts[first[both]], baseline.worst[figure].counts[second[both]]
    return difference(*counts, metric_of(figure))


def _partner(study: Study, baselines: Sequence[Assessment]) -> Assessment:
    """Return the baseline of a study: the same model, or the only one, on the same data under the same threat."""
    like = [other for other in baselines if _question(other.study) == _question(study)]
    same = [other for other in like if other.study.model == study.model]
    if len(same or like) != 1:
        known = "; ".join(f"{one.study.model} on {one.study.data}, {one.study.threat or 'clean'}" for one in baselines)
        raise BadInput(
            f"--against: expected one study of {study.data} ({study.threat or 'clean'}) with the same classes to hold"
            f" {study.model} against, found {len(same or like)}; the baseline has {known}"
        )
    return (same or like)[0]


def _question(study: Study) -> tuple[object, ...]:
    return study.data, study.threat, study.classes


def _points(share: float) -> str:
    """Write a share in percent, finely enough to see by how much a threshold was missed."""
    return f"{100 * share:.2f}"
