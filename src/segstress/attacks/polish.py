"""The last shine of a small delta: bisect how far it can be clipped while it still does enough, forward only."""

from __future__ import annotations

import torch

from .problem import THRESHOLDS, Problem

STEPS = 10  # halvings: the size is found to a thousandth of itself
POLISHING = STEPS * len(THRESHOLDS)  # forwards that an image costs at most


def polish(problem: Problem) -> None:
    """Clip the smallest delta of every threshold into ever smaller balls; the problem remembers what still succeeds."""
    allowed = problem.feasible
    for smallest in problem.smallest.values():
        delta, high = smallest.delta, allowed.size(smallest.delta)
        low = torch.zeros_like(high)
        for _ in range(STEPS):
            middle = (low + high) / 2
            clipped = allowed.project(delta, middle)
            problem.peek(clipped)
            success = smallest.score <= allowed.size(clipped)
            low, high = torch.where(success, low, middle), torch.where(success, middle, high)
