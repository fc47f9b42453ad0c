"""The first screen: what is left of a model, and what speaks for and against believing it."""

from __future__ import annotations

from collections.abc import Iterator

from ..kit.naming import percent, plural
from ..kit.verdict import Point, bounds, cost, sealed
from .assessment import Assessment
from .caveats import first_look
from .completeness import complete, left_out, unanswered, worst_range


def verdict(assessment: Assessment) -> str:
    """Say in one paragraph what the worst case is, by which attack, and what a constant answer would score."""
    study = assessment.study
    if not assessment.measured:
        return "No image has both a prediction and a truth, so there is no figure."
    constant = f"a model that says {assessment.commonest} everywhere has {percent(assessment.constant('accuracy'))} %"
    clean = f"{bounds(assessment.clean_interval('accuracy'))} of pixels right on clean images"
    if not study.outcomes:
        return f"{study.model} has {clean}; {constant}."
    low, high = worst_range(assessment, "accuracy")
    worst = bounds(assessment.worst_interval("accuracy"))
    left = worst if low == high else f"between {percent(low)} and {percent(high)} %"
    label = min(assessment.labels[1:], key=lambda name: assessment.score("accuracy", name))
    return (
        f"From {clean} to {left} in the worst case, image by image."
        f" The strongest single perturbation is {label} ({percent(assessment.score('accuracy', label))} %);"
        f" {constant}."
    )


def points(assessment: Assessment) -> Iterator[Point]:
    """Yield what was checked, whether the figures are complete, the seal, and what the run cost."""
    study = assessment.study
    for line in study.checkup:
        name, _, words = line.partition(": ")
        yield Point(name, words or line, name == "Checked" and "no warnings" in words)
    yield _completeness(assessment)
    if look := first_look(study):
        yield Point("Strength", look, good=False)
    if study.damage:
        yield Point("Seal", f"does not hold: {plural(len(study.damage), 'fault')}, named above", good=False)
    else:
        yield sealed(study.seal)
    passes = [outcome.rows.passes() for outcome in (*study.outcomes, *(alone.outcome for alone in study.alone))]
    forwards, backwards = (sum(counts) for counts in zip((0, 0), *passes, strict=True))
    yield cost(forwards, backwards)


def _completeness(assessment: Assessment) -> Point:
    images = len(assessment.study.ids)
    if complete(assessment):
        return Point("Complete", f"all of {plural(images, 'image')} answered", good=True)
    lacking = int(unanswered(assessment).sum()), int(left_out(assessment).sum())
    words = f"of {plural(images, 'image')} {lacking[0]} lack an answer and {lacking[1]} a clean prediction"
    return Point("INCOMPLETE", words, good=False)
