"""Which images to look at: the most discrepant of every defender, attacker and class, in any order of shards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float32, Shaped
from pydantic import Field

from ..core import settings
from ..core.quantities import Count
from .perceptual import distance
from .thresholds import Bounds

NOBODY = b""  # the image of an empty place
ANY_CLASS = -1  # of an image that is rejected whatever the class
ID_TYPE = "S32"  # hexadecimal: 128 bits of a content hash


@settings
class Rule:
    """How the images of each subset are chosen."""

    chosen: Count = 1  # images of each defender, attacker and class (K in the paper)
    fetched: Count = 20  # candidates kept, so that a rejected image has a successor
    highest: float = 1 - 1e-9  # images on which the two agree this much are no candidates
    near: Annotated[int, Field(ge=-1, le=64)] = 6  # bits of the perceptual hash; this near = the same; -1 = off


class Member(NamedTuple):
    """One image in one subset; the same image may be in many."""

    image: str
    defender: int
    attacker: int
    class_: int
    rank: int
    score: float  # how much the two models agree
    share: float  # of the image that the defender gives to the class


class Candidates:
    """The most discrepant images of every subset so far, ordered by agreement, then by id: a bounded memory.

    It is changed in place, because it is the memory of a walk over shards; whatever their order, it ends the same.
    """

    def __init__(self, models: int, classes: int, rule: Rule, background: int | None = 0) -> None:
        shape = (models, models, classes, max(rule.fetched, rule.chosen))
        self.rule, self.background = rule, background  # the background forms no group
        self.scores: Float32[np.ndarray, "models models classes places"] = np.full(shape, np.inf, dtype=np.float32)
        self.images = np.full(shape, NOBODY, dtype=ID_TYPE)
        self.shares: Float32[np.ndarray, "models models classes places"] = np.zeros(shape, dtype=np.float32)

    def add(
        self,
        images: Shaped[np.ndarray, " images"],
        shares: Float32[np.ndarray, "images models classes"],
        scores: Float32[np.ndarray, "images models models *classes"],
        bounds: Bounds,
    ) -> None:
        """Consider one shard; a NaN score or share means that a model has no answer for the image."""
        models, classes = shares.shape[1:]
        for defender in range(models):
            for class_ in range(classes):
                if class_ == self.background:
                    continue
                seen = shares[:, defender, class_]
                low, high = bounds.low[defender, class_], bounds.high[defender, class_]
                group = np.flatnonzero((seen > 0) & (seen >= low) & (seen <= high))
                if group.size:
                    agreed = scores[group, defender]
                    self._enter(defender, class_, images[group], seen[group], _of_class(agreed, class_))

    def _enter(self, defender: int, class_: int, images: np.ndarray, shares: np.ndarray, scores: np.ndarray) -> None:
        """Let the images of one group compete, attacker by attacker."""
        worst = self.scores[defender, :, class_, -1]
        enters = (scores <= worst) & (scores < self.rule.highest)
        enters[:, defender] = False
        for attacker in np.flatnonzero(enters.any(0)):
            group = (defender, attacker, class_)
            best = _lowest(scores[:, attacker], enters[:, attacker], self.scores.shape[-1])
            joined = [
                np.concatenate([mine[group], theirs[best]])
                for mine, theirs in ((self.images, images), (self.shares, shares), (self.scores, scores[:, attacker]))
            ]
            order = np.lexsort((joined[0], joined[2]))[: self.scores.shape[-1]]
            self.images[group], self.shares[group], self.scores[group] = (column[order] for column in joined)

    def join(self, other: Candidates) -> None:
        """Take in the candidates of other shards; an image that both have counts once."""
        columns = [(self.images, other.images), (self.scores, other.scores), (self.shares, other.shares)]
        joined = [np.concatenate(pair, axis=-1) for pair in columns]
        order = np.lexsort((joined[0], joined[1]), axis=-1)
        images, scores, shares = (np.take_along_axis(column, order, -1) for column in joined)
        again = np.zeros(images.shape, dtype=bool)
        again[..., 1:] = (images[..., 1:] == images[..., :-1]) & (images[..., 1:] != NOBODY)
        first = np.argsort(again, axis=-1, kind="stable")[..., : self.scores.shape[-1]]
        empty = np.take_along_axis(again, first, -1)
        self.images, self.scores, self.shares = (
            np.where(empty, nothing, np.take_along_axis(column, first, -1)).astype(column.dtype)
            for nothing, column in ((NOBODY, images), (np.inf, scores), (0, shares))
        )

    def subset(self, defender: int, attacker: int, class_: int) -> list[Member]:
        """Return the candidates of one subset, most discrepant first."""
        group = (defender, attacker, class_)
        rows = zip(self.images[group], self.scores[group], self.shares[group], strict=True)
        return [
            Member(image.decode(), defender, attacker, class_, rank, float(score), float(share))
            for rank, (image, score, share) in enumerate(rows)
            if image != NOBODY
        ]

    def groups(self) -> list[tuple[int, int, int]]:
        """Return every defender, attacker and class that may have a subset."""
        models, _, classes, _ = self.scores.shape
        return [
            (defender, attacker, class_)
            for defender in range(models)
            for attacker in range(models)
            for class_ in range(classes)
            if defender != attacker and class_ != self.background
        ]


def choose(
    candidates: Candidates, rejected: frozenset[tuple[str, int]], hashes: Mapping[str, int]
) -> tuple[list[Member], list[tuple[int, int, int]]]:
    """Return the final members, rejected and nearly equal images passed over, and the groups that stay empty."""
    members: list[Member] = []
    empty = []
    for group in candidates.groups():
        subset: list[Member] = []
        for member in candidates.subset(*group):
            if len(subset) == candidates.rule.chosen:
                break
            near = any(_same(member, other, hashes, candidates.rule.near) for other in subset)
            if rejected.isdisjoint({(member.image, member.class_), (member.image, ANY_CLASS)}) and not near:
                subset.append(member._replace(rank=len(subset)))
        members += subset
        if not subset:
            empty.append(group)
    return members, empty


def _of_class(scores: np.ndarray, class_: int) -> np.ndarray:
    return scores[..., class_] if scores.ndim == 3 else scores


def _lowest(scores: np.ndarray, enters: np.ndarray, kept: int) -> np.ndarray:
    """Find the lowest scores, all equal ones included, so that ids decide later."""
    entering = np.flatnonzero(enters)
    if entering.size <= kept:
        return entering
    limit = np.partition(scores[entering], kept - 1)[kept - 1]
    return entering[scores[entering] <= limit]


def _same(first: Member, second: Member, hashes: Mapping[str, int], near: int) -> bool:
    return distance(hashes[first.image], hashes[second.image]) <= near
