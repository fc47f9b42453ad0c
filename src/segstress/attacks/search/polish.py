"""The last shine of a small delta: bisect how far it can be clipped while it still does enough, forward only."""

from __future__ import annotations

import torch

from .problem import THRESHOLDS, Problem

STEPS = 10  # halvings for the threshold aimed at: the size is found to a thousandth of itself
FEWER = 5  # halvings for the others, which were not aimed at and have seen the looks of the first
POLISHING = STEPS + FEWER * (len(THRESHOLDS) - 1)  # forwards that an image costs at most


def polish(problem: Problem) -> None:
    """Clip the smallest delta of every threshold into ever smaller balls; the problem remembers what still succeeds."""
    for number, goal in enumerate(problem.smallest()):
        _halve(problem, goal, FEWER if number else STEPS)


def _halve(problem: Problem, goal: str, steps: int) -> None:
    allowed, delta = problem.feasible, problem.smallest()[goal]
    high = allowed.size(delta)
    low = torch.zeros_like(high)
    for _ in range(steps):
        middle = (low + high) / 2
        clipped = allowed.project(delta, middle)
        problem.peek(clipped)
        success = problem.smallest_size(goal) <= allowed.size(clipped)
        low, high = torch.where(success, low, middle), torch.where(success, middle, high)
