"""After a run: what the stored results themselves say against the evaluation; no model is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import Perturbation, Threat, digest, to_plain
from ..metrics.counts import ACTUAL, HITS
from ..results.study import Outcome, Study
from .flag import Flag

LARGE = 64 / 255  # a linf radius at which nothing should be left
LEFT = 0.05  # accuracy that may be left there
MUCH = 0.02  # accuracy by which more steps, or another schedule, may still help
APART = 0.9  # share of what the better of two alike attacks leaves that both must leave together
LITTLE = 0.005  # accuracy that they may take together whatever the share
BEATEN = 0.002  # accuracy by which an attack without gradients may beat those with
CONVERGED = 20  # steps from which on more should not help much
MASKED = "the gradients probably mislead (gradient masking), so the figures flatter the model"

Tried = tuple[Perturbation, Outcome]


def doubt(study: Study, changes: Iterable[Perturbation]) -> list[Flag]:
    """Return every doubt that the outcomes of a study raise; their attacks are among the changes."""
    named = {change.name: change for change in changes if str(change.threat) == study.threat and _everywhere(change)}
    tried = [(named[outcome.label], outcome) for outcome in study.outcomes if outcome.label in named]
    checks = (_black_box, _large_radius, _more_steps, _step_length, _schedule)
    return [flag for check in checks for flag in check(study, tried)]


def _black_box(study: Study, tried: Sequence[Tried]) -> Iterator[Flag]:
    with_gradient = [outcome for _, outcome in tried if outcome.rows.passes()[1]]
    for blind in (outcome for _, outcome in tried if not outcome.rows.passes()[1]):
        seen, best = _compare(study, [blind], with_gradient)
        if seen < best - BEATEN:
            yield Flag(
                "black-box",
                f"{blind.label}, which uses no gradient, leaves {seen:.1%} accuracy where all others leave {best:.1%}",
                MASKED,
                "look for rounding, noise or saturation in the model, and attack a smooth stand-in of it",
            )
            return


def _large_radius(study: Study, tried: Sequence[Tried]) -> Iterator[Flag]:
    wide = [outcome for attack, outcome in tried if _is_large(attack.threat)]
    left, _ = _compare(study, wide, wide)
    if left > LEFT:
        yield Flag(
            "large-radius",
            f"{left:.1%} accuracy is left at {study.threat}, where an image can be turned into almost any other",
            MASKED,
            "use more steps and other losses, and attacks without gradients; see whether the prediction moves at all",
        )


def _more_steps(study: Study, tried: Sequence[Tried]) -> Iterator[Flag]:
    for few, many in _pairs(tried, "steps"):
        if few[0][0] >= CONVERGED:
            before, after = _compare(study, [few[1]], [many[1]])
            if after < before - MUCH:
                yield Flag(
                    "more-steps",
                    f"{many[1].label} leaves {after:.1%} accuracy, {few[1].label} left {before:.1%}",
                    "the attack has not converged, so still more steps would find still more",
                    "double the steps until the figures stay",
                )


def _step_length(study: Study, tried: Sequence[Tried]) -> Iterator[Flag]:
    """Look at two attacks that climb the same loss by steps of other lengths: does either miss what the other finds?"""
    for (_, one), (_, other) in _pairs(tried, "longest", "steps"):
        alone, together = min(_compare(study, [one], [other])), _together(study, one, other)
        if together < min(APART * alone, alone - LITTLE):
            yield Flag(
                "step-length",
                f"{one.label} and {other.label} leave {alone:.1%} accuracy at the best alone, {together:.1%} together",
                "where a search gets stuck depends on its steps, on this model, so others may find still more",
                "run --battery published too, and other seeds (--seed), and report what is lower image by image",
            )


def _schedule(study: Study, tried: Sequence[Tried]) -> Iterator[Flag]:
    for (_, constant), (_, shrinking) in _pairs(tried, "progressive"):
        left, before = _compare(study, [constant], [shrinking])
        if left < before - MUCH:
            yield Flag(
                "radius-schedule",
                f"{constant.label} leaves {left:.1%} accuracy at constant radius, with a shrinking one {before:.1%}",
                "what is found in larger balls does not help in the smaller, as with gradients that mislead",
                "use constant radius for this model (progressive=false), and attacks without gradients",
            )


def _pairs(tried: Sequence[Tried], *names: str) -> Iterator[tuple[tuple[Any, Outcome], tuple[Any, Outcome]]]:
    """Yield the two largest values of settings with their outcomes, for all that differ in nothing else."""
    alike: dict[str, list[tuple[Any, Outcome]]] = {}
    for attack, outcome in tried:
        plain = to_plain(attack)
        if all(name in plain["algorithm"] for name in names):
            values = tuple(plain["algorithm"].pop(name) for name in names)
            alike.setdefault(digest(plain), []).append((values, outcome))
    for group in alike.values():
        if len(group) > 1:
            smaller, larger = sorted(group, key=lambda pair: pair[0])[-2:]
            yield smaller, larger


def _compare(study: Study, some: Sequence[Outcome], others: Sequence[Outcome]) -> tuple[float, float]:
    """Return the accuracy under the worst of each group, on the images that both answered; NaN where there are none."""
    (right, answered), (right_others, answered_others) = (_worst(study, group) for group in (some, others))
    both = answered & answered_others
    total = study.clean["all"][both][..., ACTUAL].sum()
    if not total:
        return np.nan, np.nan
    return float(right[both].sum() / total), float(right_others[both].sum() / total)


def _together(study: Study, one: Outcome, other: Outcome) -> float:
    """Return the accuracy under the worse of two attacks, on the images that both answered."""
    (right, answered), (right_other, answered_other) = _worst(study, [one]), _worst(study, [other])
    both = answered & answered_other
    return float(np.minimum(right, right_other)[both].sum() / max(study.clean["all"][both][..., ACTUAL].sum(), 1))


def _worst(study: Study, outcomes: Sequence[Outcome]) -> tuple[np.ndarray, np.ndarray]:
    """Return the fewest correct pixels of each image, and which images have an answer."""
    most = study.clean["all"][..., ACTUAL].sum(1)
    right = np.full((len(outcomes) + 1, len(study.ids)), most)
    for index, outcome in enumerate(outcomes):
        counts = outcome.counts.get((outcome.for_goal("accuracy"), "all"))
        if counts is not None:
            right[index] = np.where(outcome.answered, counts[..., HITS].sum(1), most)
    answered = np.any([np.zeros(len(study.ids), dtype=bool), *(outcome.answered for outcome in outcomes)], axis=0)
    return right.min(0), answered


def _everywhere(change: Perturbation) -> bool:
    """Tell whether it may change the whole image to break all of it: only then must nothing be left."""
    plain = to_plain(change)
    everything = "algorithm" in plain and plain.get("aim") is None and change.region is None and not change.parts
    return everything and change.threat is not None and change.threat.target is None


def _is_large(threat: Threat | None) -> bool:
    return threat is not None and threat.norm == "linf" and threat.radius >= LARGE
