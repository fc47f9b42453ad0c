"""What a person is asked, in which order and on which sides: shuffled, balanced, and blind."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from ..core import BadInput, settings

Mode = Literal["choose", "screen", "review"]
CHOICES: dict[Mode, tuple[str, ...]] = {
    "choose": ("left", "right", "tie", "reject"),
    "screen": ("keep", "reject"),
    "review": ("keep", "reject"),
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")  # of a person: also a file name


@settings
class Trial:
    """One question as one person sees it; who is left and right stays with us."""

    id: str  # says nothing to those who do not know the secret
    image: str
    shown: tuple[str, ...] = ()  # models from left to right; none when only the image is screened
    classes: tuple[str, ...] = ()  # what to look at
    repeat: bool = False


@settings
class Question:
    """An image, and the models whose maps of it are compared."""

    image: str
    models: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


@settings
class TrialList:
    """The trials of one person in their order."""

    mode: Mode
    rater: str
    trials: Annotated[tuple[Trial, ...], Field(default_factory=tuple)]

    def find(self, id: str) -> Trial:
        """Return a trial by its id."""
        for trial in self.trials:
            if trial.id == id:
                return trial
        raise BadInput(f"unknown trial '{id[:64]}'; reload the page")


def check_name(rater: str) -> str:
    """Return a person's name, refused when it is not plain."""
    if not NAME.fullmatch(rater):
        raise BadInput(f"name: expected letters, digits, - and _, at most 32, found '{rater[:40]}'")
    return rater


def deal(
    questions: Iterable[Question],
    mode: Mode,
    rater: str,
    secret: str,
    repeats: float = 0.0,
    before: TrialList | None = None,
) -> TrialList:
    """Deal a trial list to one person; trials dealt before keep their index and sides, new questions come after."""
    wanted = {_key(question): question for question in questions}
    old = [trial for trial in (before.trials if before else ()) if _key(trial) in wanted]
    known = {_key(trial) for trial in old}
    fresh = [question for key, question in wanted.items() if key not in known]
    fresh.sort(key=lambda question: secret_name(secret, rater, mode, *_key(question)))
    sides = _sides(fresh, old, mode, rater, secret)
    trials = [_trial(question, sides[_key(question)], mode, rater, secret) for question in fresh]
    again = [_again(trial, rater, secret) for trial in trials[: round(repeats * len(trials))] if trial.shown]
    return TrialList(mode=mode, rater=rater, trials=(*old, *spread([*trials, *again])))


def spread(trials: Sequence[Trial]) -> list[Trial]:
    """Keep the order, but show no image twice in a row where that can be helped."""
    placed: list[Trial] = []
    for trial in trials:
        gaps = (gap for gap in range(len(placed), -1, -1) if _fits(placed, gap, trial))
        placed.insert(next(gaps, len(placed)), trial)
    return placed


def _fits(placed: Sequence[Trial], gap: int, trial: Trial) -> bool:
    return trial.image not in {neighbour.image for neighbour in placed[max(0, gap - 1) : gap + 1]}


def _sides(
    fresh: Sequence[Question], old: Sequence[Trial], mode: Mode, rater: str, secret: str
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Put each model of a pair on the left equally often; on which images, the secret alone decides.

    The draw has a word of its own, so that neither the id of a trial nor its place in the order tells the side."""
    lefts = Counter(trial.shown for trial in old)
    pairs: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for question in fresh:
        pairs.setdefault(tuple(sorted(question.models)), []).append(_key(question))
    sides: dict[tuple[str, ...], tuple[str, ...]] = {}
    for shown, keys in pairs.items():
        keys.sort(key=lambda key: secret_name(secret, "side", rater, mode, *key))
        coin = int(secret_name(secret, "odd", rater, mode, *shown), 16) % 2
        first = (len(keys) + lefts[shown[::-1]] - lefts[shown] + coin) // 2  # of them keep the sorted order
        sides |= {key: shown if position < first else shown[::-1] for position, key in enumerate(keys)}
    return sides


def _trial(question: Question, shown: tuple[str, ...], mode: Mode, rater: str, secret: str) -> Trial:
    id = secret_name(secret, rater, mode, *_key(question))
    return Trial(id=id, image=question.image, shown=shown, classes=question.classes)


def _again(trial: Trial, rater: str, secret: str) -> Trial:
    id = secret_name(secret, rater, trial.id, "again")
    return Trial(id=id, image=trial.image, shown=trial.shown[::-1], classes=trial.classes, repeat=True)


def _key(item: Question | Trial) -> tuple[str, ...]:
    models = item.models if isinstance(item, Question) else item.shown
    return (item.image, *sorted(models)) if models else (item.image, *item.classes)


def sign(secret: str, rater: str) -> str:
    """Return the word that proves a person's name: without the secret nobody can make it."""
    return hmac.new(secret.encode(), f"rater\0{check_name(rater)}".encode(), hashlib.sha256).hexdigest()[:32]


def is_signed(secret: str, rater: str, signature: str) -> bool:
    """Tell whether a signature belongs to that name."""
    return bool(NAME.fullmatch(rater)) and hmac.compare_digest(sign(secret, rater).encode(), signature.encode())


def secret_name(secret: str, *words: str) -> str:
    """Return a name that only those who know the secret can make or read."""
    text = "\0".join(words).encode()
    return hashlib.blake2b(text, key=secret.encode()[:64], digest_size=8).hexdigest()
