"""Sweep the weights of two models that answer together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..core import BadInput, Spec
from ..models import models
from ..reports.local.ensemble import Step, drawing, headline, reversed_roles, sweep, table
from ..results.local import LocalResult
from ..results.run import Run
from .local_report import spatial_report


def mixtures(first: Spec, second: Spec, weights: Sequence[float]) -> dict[float, Spec]:
    """Return a model for each weight of the first; at the ends the members themselves, which must be among them."""
    wrong = [weight for weight in weights if not 0 <= weight <= 1]
    if wrong:
        raise BadInput(f"weights: expected numbers from 0 to 1, found {wrong[0]:g}")
    inner = sorted({round(weight, 6) for weight in weights} - {0.0, 1.0})
    mixed: dict[float, Spec] = {
        weight: {"kind": "ensemble", "members": [first, second], "shares": [weight, round(1 - weight, 6)]}
        for weight in inner
    }
    return {0.0: second, **mixed, 1.0: first}


def steps_of(results: Sequence[LocalResult], mixed: Mapping[float, Spec]) -> list[Step]:
    """Return what each mixture loses."""
    return sweep(results, {weight: models.build(spec).label for weight, spec in mixed.items()})


def ensemble_report(run: Run, results: Sequence[LocalResult], mixed: Mapping[float, Spec]) -> Path:
    """Write the page of localized damage, beginning with the sweep; return its path."""
    steps, names = steps_of(results, mixed), [models.build(mixed[weight]).label for weight in (1.0, 0.0)]
    return spatial_report(
        run,
        results,
        reversed_roles(steps, *names),
        tables=[table(steps, *names)],
        drawings=[drawing(steps, *names)],
        lead=headline(steps, *names),
    )
