"""People's choices between two predictions of one image, and what they say about the models and about the people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float64, Int64
from pydantic import Field

from ..core import BadInput, settings
from .matrices import add_up
from .select import Member
from .uncertainty import draw_weights

Choice = Literal["left", "right", "tie", "reject"]
WORTH = {"left": 1.0, "tie": 0.5, "right": 0.0}  # of a choice, to the model on the left


@settings
class Vote:
    """One choice of one person."""

    id: Annotated[str, Field(min_length=1, max_length=64)]
    image: str
    left: str  # name of the model shown there
    right: str
    choice: Choice
    rater: Annotated[str, Field(min_length=1, max_length=64)]
    reason: Annotated[str, Field(max_length=200)] = ""  # why the image was rejected
    repeat: bool = False  # shown a second time, sides swapped, to see whether the person is of one mind
    session: Annotated[int, Field(ge=0)] = 0
    sequence: Annotated[int, Field(ge=0)] = 0
    milliseconds: Annotated[int, Field(ge=0)] = 0  # from picture to choice
    time: str = ""

    @property
    def question(self) -> tuple[str, frozenset[str]]:
        """What was asked: the image and its two models."""
        return self.image, frozenset((self.left, self.right))


def check_votes(votes: Iterable[Vote], names: Sequence[str]) -> list[Vote]:
    """Refuse votes on unknown models and two different answers of one person to one question."""
    seen: dict[tuple[object, ...], Vote] = {}
    for vote in votes:
        unknown = {vote.left, vote.right} - set(names)
        if unknown:
            raise BadInput(f"vote {vote.id} is on '{min(unknown)}'; the models are {', '.join(names)}")
        key = (*vote.question, vote.rater, vote.repeat)
        if seen.setdefault(key, vote) != vote:
            raise BadInput(
                f"{vote.rater} voted twice on image {vote.image} ({seen[key].id} and {vote.id}); undo one of them"
            )
    return list(seen.values())


@dataclass(frozen=True)
class VoteTally:
    """Votes as arrays: who was compared on which image, and as what the image had been selected."""

    models: int
    images: Int64[np.ndarray, " votes"]  # place among the distinct images
    left: Int64[np.ndarray, " votes"]
    right: Int64[np.ndarray, " votes"]
    raters: Int64[np.ndarray, " votes"]  # place among the people
    worth: Float64[np.ndarray, " votes"]  # to the left: 1, 0, or 0.5 for a tie
    left_defends: Float64[np.ndarray, " votes"]  # number of subsets in which the left model is the defender
    right_defends: Float64[np.ndarray, " votes"]

    @property
    def distinct(self) -> int:
        """Number of different images."""
        return int(self.images.max()) + 1 if len(self.images) else 0

    def overall(self, weights: Float64[np.ndarray, "draws images"] | None = None) -> np.ndarray:
        """Count wins of the row over the column, every vote once."""
        once = np.ones(len(self.images))
        return self._wins(once, once, weights)

    def attack(self, weights: Float64[np.ndarray, "draws images"] | None = None) -> np.ndarray:
        """Count wins of the row as attacker of the column, every vote in each subset that asked for it."""
        return self._wins(self.right_defends, self.left_defends, weights)

    def defence(self, weights: Float64[np.ndarray, "draws images"] | None = None) -> np.ndarray:
        """Count wins of the row as defender against the column."""
        return self._wins(self.left_defends, self.right_defends, weights)

    def ratios(self) -> np.ndarray:
        """Divide votes for the row as attacker of the column by votes for the column, half a vote added to each."""
        attack, defence = self.attack(), self.defence().T
        return np.where(attack + defence > 0, (attack + 0.5) / (defence + 0.5), np.nan)

    def roles(self, weights: Float64[np.ndarray, "draws images"] | None = None) -> np.ndarray:
        """Count wins among twice as many players: each model as attacker, then each as defender."""
        attack, defence = self.attack(weights), self.defence(weights)
        nothing = np.zeros_like(attack)
        return np.concatenate([np.concatenate([nothing, attack], -1), np.concatenate([defence, nothing], -1)], axis=-2)

    def _wins(self, of_left: np.ndarray, of_right: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        votes_drawn = (
            np.ones((1, len(self.images))) if weights is None else weights[:, self.images] * self._people(len(weights))
        )
        forward, back = self.left * self.models + self.right, self.right * self.models + self.left
        won = (votes_drawn * (self.worth * of_left)) @ add_up(forward, self.models**2)
        lost = (votes_drawn * ((1 - self.worth) * of_right)) @ add_up(back, self.models**2)
        wins = (won + lost).reshape(-1, self.models, self.models)
        return wins[0] if weights is None else wins

    def _people(self, draws: int) -> Float64[np.ndarray, "draws votes"]:
        """Draw people as images are drawn, since another group of people might have decided otherwise."""
        number = int(self.raters.max()) + 1
        return draw_weights(number, draws, seed=1)[:, self.raters]


def tally(votes: Iterable[Vote], members: Iterable[Member], names: Sequence[str]) -> VoteTally:
    """Join votes with the memberships of their images; repeats and rejections count for no model."""
    number_of = {name: index for index, name in enumerate(names)}
    roles: dict[tuple[str, int, int], int] = defaultdict(int)
    for member in members:
        roles[member.image, member.defender, member.attacker] += 1
    counted = [vote for vote in votes if vote.choice in WORTH and not vote.repeat]
    images, people = (
        {word: index for index, word in enumerate(sorted({getattr(vote, key) for vote in counted}))}
        for key in ("image", "rater")
    )
    left, right = (
        np.array([number_of[getattr(vote, side)] for vote in counted], dtype=np.int64) for side in ("left", "right")
    )
    return VoteTally(
        models=len(names),
        images=np.array([images[vote.image] for vote in counted], dtype=np.int64),
        left=left,
        right=right,
        raters=np.array([people[vote.rater] for vote in counted], dtype=np.int64),
        worth=np.array([WORTH[vote.choice] for vote in counted]),
        left_defends=_times(roles, counted, left, right),
        right_defends=_times(roles, counted, right, left),
    )


def _times(
    roles: dict[tuple[str, int, int], int], votes: Sequence[Vote], first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    pairs = zip(votes, first.tolist(), second.tolist(), strict=True)
    return np.array([roles[vote.image, defender, attacker] for vote, defender, attacker in pairs], dtype=np.float64)
