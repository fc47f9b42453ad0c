"""The embedded competition: models of the zoo on a pool with another distribution, whose masks are the judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .plan import Contest, read_contest

ENTRANTS = (  # one of each kind: repeated seeds would multiply pairs and tell nothing new
    "cnn-normal",
    "transformer-normal",
    "unet-normal",
    "cnn-pgd-at-50",
    "cnn-pgd-at-100",
    "cnn-segpgd-at-100",
    "cnn-ddc-at",
    "transformer-pgd-at-100",
)


def contest(count: int, changes: Mapping[str, Any] | None = None) -> Contest:
    """Return a competition of the zoo on images made here, with changes to it."""
    return read_contest(
        {
            "models": [f"compact:{name}" for name in ENTRANTS],
            "pool": f"shapes:pool?count={count}&labelled=true",
            "scale": "pool",
        },
        changes,
    )
