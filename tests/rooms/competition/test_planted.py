"""A planted truth: among predictors of known quality the competition finds the order, with labels for few images."""

from __future__ import annotations

import numpy as np
import pytest

from segstress.competition.discrepancy import miou, pair_counts
from segstress.competition.matrices import Scored, aggressiveness, performance, resistance
from segstress.competition.ranking import fit, places
from segstress.competition.select import Candidates, Rule, choose
from segstress.competition.thresholds import PoolShares
from segstress.competition.uncertainty import rank
from segstress.data import load

WRONG = (0.05, 0.15, 0.3, 0.5)  # share of 6 x 6 blocks that a predictor gets wrong; its order is the truth
CLASSES, IMAGES, BLOCK = 7, 150, 6


def predict(truth: np.ndarray, wrong: float, random: np.random.Generator) -> np.ndarray:
    """The truth with a random class in some blocks."""
    rows, columns = (-(-side // BLOCK) for side in truth.shape)
    blocks = random.random((rows, columns)) < wrong
    classes = random.integers(CLASSES, size=(rows, columns))
    spread = np.ones((BLOCK, BLOCK), dtype=np.int64)
    mask, other = (np.kron(each, spread)[: truth.shape[0], : truth.shape[1]] for each in (blocks, classes))
    return np.where(mask > 0, other, truth).astype(np.uint8)


@pytest.fixture(scope="module")
def pool() -> tuple[np.ndarray, np.ndarray]:
    """Truths (images, h, w) and maps (images, models, h, w)."""
    data = load(f"shapes:pool?count={IMAGES}&size=48&labelled=true")
    truths = np.stack([data.read(id).labels.numpy() for id in data.ids()]).astype(np.uint8)
    random = np.random.default_rng(0)
    return truths, np.stack([[predict(truth, wrong, random) for wrong in WRONG] for truth in truths])


def scored(truths: np.ndarray, maps: np.ndarray, chosen: int) -> Scored:
    models = len(WRONG)
    scores = np.stack([miou(pair_counts(each, CLASSES)) for each in maps]).astype(np.float32)
    counts = [[np.bincount(labels.ravel(), minlength=CLASSES) for labels in each] for each in maps]
    shares = (np.array(counts) / truths[0].size).astype(np.float32)
    seen = PoolShares(models, CLASSES)
    seen.add(shares)
    candidates = Candidates(models, CLASSES, Rule(chosen=chosen, near=-1))
    ids = np.array([f"{place:016x}" for place in range(IMAGES)], dtype="S16")
    candidates.add(ids, shares, scores, seen.bounds())
    members, _ = choose(candidates, frozenset(), {id.decode(): 0 for id in ids})
    places_ = np.array([int(member.image, 16) for member in members])
    _, images = np.unique(places_, return_inverse=True)
    defenders, attackers, classes = (np.array([m[key] for m in members]) for key in (1, 2, 3))
    quality = np.array(
        [[miou(pair_counts(np.stack([truths[p], labels]), CLASSES)[0])[1] for labels in maps[p]] for p in places_]
    )
    own = np.arange(len(members))
    return Scored(models, images, defenders, attackers, classes, quality[own, defenders], quality[own, attackers])


def test_the_order_is_recovered_with_few_labels(pool: tuple[np.ndarray, np.ndarray]) -> None:
    found = scored(*pool, chosen=1)
    assert found.distinct < IMAGES / 2
    for matrix in (aggressiveness, resistance):
        assert places(fit(matrix(performance(found)))).tolist() == [1, 2, 3, 4]


def test_far_apart_models_are_told_apart_surely(pool: tuple[np.ndarray, np.ndarray]) -> None:
    found = scored(*pool, chosen=3)
    ranking = rank(lambda weights: fit(aggressiveness(performance(found, weights))), found.distinct, 200)
    assert ranking.beats[0, 3] > 0.99
    assert ranking.rank.tolist() == [1, 2, 3, 4]
    assert (0, 3) not in ranking.tied()
