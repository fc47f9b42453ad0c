"""Sweep the weights of two models that answer together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..attacks.multi_attack import several
from ..core import BadInput, Spec, perturbations
from ..models import models
from ..reports.local.ensemble import Step, drawing, headline, reversed_roles, sweep, table
from ..results.local import LocalResult
from ..results.run import Run
from .local_report import spatial_report


def mixtures(first: Spec, second: Spec, weights: Sequence[float]) -> dict[float, Spec]:
    """Return a model for each weight of the first; at the ends the members themselves, which must be among them."""
    if models.build(first).label == models.build(second).label:
        raise BadInput(f"ensemble: expected two models that differ, found {models.build(first).label} twice")
    wrong = [weight for weight in weights if not 0 <= weight <= 1]
    if wrong:
        raise BadInput(f"weights: expected numbers from 0 to 1, found {wrong[0]:g}")
    inner = sorted({round(weight, 6) for weight in weights} - {0.0, 1.0})
    mixed: dict[float, Spec] = {
        weight: {"kind": "ensemble", "members": [first, second], "shares": [weight, round(1 - weight, 6)]}
        for weight in inner
    }
    return {0.0: second, **mixed, 1.0: first}


def check_damage(damage: Sequence[Spec]) -> None:
    """Refuse damage by which a sweep could not compare both of its errors."""
    changes = [perturbations.build(spec) for spec in damage]
    if not any(several(change) for change in changes) or all(change.threat for change in changes):
        labels = ", ".join(dict.fromkeys(change.label for change in changes)) or "nothing"
        raise BadInput(f"ensemble: expected corruptions of a region and a multi-attack, found {labels}")


def steps_of(results: Sequence[LocalResult], mixed: Mapping[float, Spec]) -> list[Step]:
    """Return what each mixture loses."""
    return sweep(results, {weight: models.build(spec).label for weight, spec in mixed.items()})


def ensemble_report(
    run: Run,
    results: Sequence[LocalResult],
    mixed: Mapping[float, Spec],
    tell: Callable[[str], object],
    warn: Callable[[str], object],
) -> Path:
    """Write the page of localized damage, beginning with the sweep; return its path.

    The trade-off is told, as the page's headline has it; reversed roles are warned of."""
    steps, names = steps_of(results, mixed), [models.build(mixed[weight]).label for weight in (1.0, 0.0)]
    lead, warnings = headline(steps, *names), reversed_roles(steps, *names)
    tell(lead)
    for words in warnings:
        warn(words)
    return spatial_report(
        run,
        results,
        warnings,
        tables=[table(steps, *names)],
        drawings=[drawing(steps, *names)],
        lead=lead,
    )
