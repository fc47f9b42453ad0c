"""How far the people who voted can be relied on: side preference, self-consistency, agreement with one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import binomtest

from .votes import Vote


@dataclass(frozen=True)
class Rater:
    """How far one person can be relied on."""

    name: str
    votes: int
    left_share: float  # of the choices that were no tie
    side_doubt: float  # chance of a share as far from a half without any side preference
    repeats: int
    consistent: float  # share of repeats answered as before; NaN without any


def raters(votes: Sequence[Vote]) -> list[Rater]:
    """Return side preference and self-consistency of everyone."""
    return [_rater(name, [vote for vote in votes if vote.rater == name]) for name in sorted({v.rater for v in votes})]


def _rater(name: str, votes: Sequence[Vote]) -> Rater:
    sides = [vote.choice == "left" for vote in votes if vote.choice in ("left", "right")]
    first = {vote.question: _winner(vote) for vote in votes if not vote.repeat}
    again = [vote for vote in votes if vote.repeat and vote.question in first]
    same = [_winner(vote) == first[vote.question] for vote in again]
    return Rater(
        name=name,
        votes=len(votes),
        left_share=float(np.mean(sides)) if sides else float("nan"),
        side_doubt=float(binomtest(sum(sides), len(sides)).pvalue) if sides else float("nan"),
        repeats=len(again),
        consistent=float(np.mean(same)) if same else float("nan"),
    )


def agreement(votes: Sequence[Vote]) -> dict[tuple[str, str], tuple[int, float]]:
    """Count common questions of every two people, with Cohen's kappa of their answers."""
    answers: dict[str, dict[object, str]] = defaultdict(dict)
    for vote in votes:
        if not vote.repeat:
            answers[vote.rater][vote.question] = _winner(vote)
    kappas = {}
    for first, second in combinations(sorted(answers), 2):
        common = [question for question in answers[first] if question in answers[second]]
        pairs = [(answers[first][question], answers[second][question]) for question in common]
        kappas[first, second] = (len(pairs), _kappa(pairs))
    return kappas


def _kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Return the agreement beyond chance, chance being the two people's own shares of each answer."""
    if not pairs:
        return float("nan")
    seen = np.mean([one == other for one, other in pairs])
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]
    chance = sum(sides[0].count(answer) * sides[1].count(answer) for answer in set(sides[0])) / len(pairs) ** 2
    return float((seen - chance) / (1 - chance)) if chance < 1 else 1.0


def _winner(vote: Vote) -> str:
    return {"left": vote.left, "right": vote.right}.get(vote.choice, vote.choice)
