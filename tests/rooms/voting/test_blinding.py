"""Nothing that reaches a browser names the model on the left: simple rules and a classifier try, and fail."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sessions import MODELS, MadeUp, make_session

from segstress.voting import session as session_module
from segstress.voting.session import Session
from segstress.voting.trial_list import Trial, TrialList

TRIALS = 2000
CHANCE = 0.545  # four standard deviations of a fair coin thrown 2,000 times
CLOCK = 5e-6  # seconds: the finest that a page can tell apart (performance.now, when isolated)


class Uneven(MadeUp):
    """Maps that compress well or badly, according to the model."""

    def labels(self, image: str, source: str) -> np.ndarray:
        labels = super().labels(image, source)
        if source == MODELS[0]:
            labels[16:] = np.random.default_rng(sum(image.encode())).integers(3, size=(8, 32))
        return labels


@pytest.fixture(autouse=True)
def remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw every map once; the trials of an image lie far apart."""
    monkeypatch.setattr(session_module, "KEPT", TRIALS)


def make_uneven(folder: Path, trials: int = TRIALS // 5) -> Session:
    """A session of one person with three pairs of models; two thirds of the trials show the first model."""
    session = make_session(folder, images=trials // 2)
    session.pictures = Uneven()
    return session


def public(session: Session, padded: bool = True) -> np.ndarray:
    """All numbers that the browser could make of each trial of the first model: (trials, features)."""
    dealt = session.trial_list("kim", server=True)["trials"]
    return np.array([_features(session, trial, place, padded) for place, trial in enumerate(dealt)])[involved(session)]


def _features(session: Session, trial: dict, place: int, padded: bool) -> list[float]:
    times, sizes = [time.perf_counter()], []
    for name in trial["maps"]:
        script = session.picture(name)
        sizes.append(len(script if padded else script.rstrip()))
        times.append(time.perf_counter())
    words = (trial["id"], trial["image"], *trial["maps"])
    bits = [int(bit) for word in words for bit in f"{int(word, 16):064b}"]
    order = [place % step for step in (2, 3, 4)]
    lengths = [len(word) for word in (*words, *trial["classes"])]
    elapsed = np.diff(times) // CLOCK
    return [*bits, *order, *lengths, place, *sizes, sizes[0] - sizes[1], *elapsed, elapsed[0] - elapsed[1]]


def involved(session: Session) -> np.ndarray:
    return np.array([MODELS[0] in trial.shown for trial in session.deal("kim").trials])


def truth(session: Session) -> np.ndarray:
    """Whether the first model is on the left, where it is shown."""
    lefts = np.array([trial.shown[0] == MODELS[0] for trial in session.deal("kim").trials])
    return lefts[involved(session)]


def best_guess(features: np.ndarray, lefts: np.ndarray) -> float:
    """The share of trials in which the best rule or the classifier is right."""
    ranks = features.argsort(0).argsort(0) / len(features) - 0.5
    splits = np.concatenate([features > np.median(features, 0), features > features.min(0)], axis=1)
    right = (splits == lefts[:, None]).mean(0)
    scaled = np.concatenate([ranks, (features - features.mean(0)) / (features.std(0) + 1e-9)], axis=1)
    return max(right.max(), 1 - right.min(), classify(scaled, lefts))


def classify(features: np.ndarray, lefts: np.ndarray) -> float:
    """Logistic regression by Newton's method with a ridge; learned on one half, asked about the other, both ways."""
    half = np.arange(len(lefts)) % 4 < 2
    guesses = np.empty(len(lefts), dtype=bool)
    for learn in (half, ~half):
        known, weights = features[learn], np.zeros(features.shape[1])
        for _ in range(8):
            chance = 1 / (1 + np.exp(-np.clip(known @ weights, -30, 30)))
            slope = known.T @ (lefts[learn] - chance) - 10 * weights
            curve = (known * (chance * (1 - chance))[:, None]).T @ known + 10 * np.eye(len(weights))
            weights = weights + np.linalg.solve(curve, slope)
        guesses[~learn] = features[~learn] @ weights > 0
    return float((guesses == lefts).mean())


def test_no_public_field_names_the_left_model(tmp_path: Path) -> None:
    session = make_uneven(tmp_path, TRIALS)
    lefts = truth(session)
    assert len(lefts) == TRIALS
    assert best_guess(public(session), lefts) < CHANCE


def _by_parity(trial: Trial) -> Trial:
    return replace(trial, shown=tuple(sorted(trial.shown, reverse=bool(int(trial.id, 16) % 2))))


def test_a_side_that_follows_the_id_is_caught(tmp_path: Path) -> None:
    session = make_uneven(tmp_path)
    dealt = session.deal("kim")
    leaking = TrialList(mode="choose", rater="kim", trials=tuple(map(_by_parity, dealt.trials)))
    session.deal = lambda rater: leaking
    assert best_guess(public(session), truth(session)) > 0.9


def test_a_size_that_follows_the_model_is_caught(tmp_path: Path) -> None:
    session = make_uneven(tmp_path)
    assert best_guess(public(session, padded=False), truth(session)) > 0.9


def test_a_time_that_follows_the_model_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = make_uneven(tmp_path)
    hand_over = session.picture

    def slow(name: str) -> str:
        if session._names[name][1] == MODELS[0]:
            time.sleep(1e-4)
        return hand_over(name)

    monkeypatch.setattr(session, "picture", slow)
    assert best_guess(public(session), truth(session)) > 0.9


def test_maps_of_an_image_are_equally_long(tmp_path: Path) -> None:
    session = make_uneven(tmp_path)
    for trial in session.trial_list("kim", server=True)["trials"][:9]:
        left, right = (session.picture(name) for name in trial["maps"])
        assert len(left) == len(right)
        assert left != right


@pytest.mark.parametrize("secret", ["one", "two"])
def test_another_secret_draws_other_sides(secret: str) -> None:
    from sessions import questions

    from segstress.voting.trial_list import deal

    first, second = (
        {
            (trial.image, frozenset(trial.shown)): trial.shown
            for trial in deal(questions(40), "choose", "kim", word).trials
        }
        for word in (secret, "three")
    )
    assert 0.3 < np.mean([first[key] == second[key] for key in first]) < 0.7
