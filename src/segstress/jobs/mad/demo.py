"""The embedded competition: the zoo's models on a pool with another distribution, whose masks are the judge."""

from __future__ import annotations

from ...models.compact import zoo
from .plan import Contest, read_contest


def contest(count: int) -> Contest:
    """Every model of the zoo on images made here."""
    return read_contest(
        {
            "models": [f"compact:{name}" for name in zoo()],
            "pool": f"shapes:pool?count={count}&labelled=true",
            "scale": "pool",
        }
    )
