"""Attacks that seek the smallest change, from a few settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..attacks import attacks as known


def specs(attacks: Sequence[str], shares: Sequence[float], **threat: Any) -> list[dict[str, Any]]:
    """Return aim every attack at every share of won pixels."""
    given = {key: value for key, value in threat.items() if value is not None}
    perturbations = []
    for share in shares:
        for attack in attacks:
            plain = known.read(attack)
            perturbations.append({"attack": plain.pop("kind"), **plain, **given, "enough": share})
    return perturbations
