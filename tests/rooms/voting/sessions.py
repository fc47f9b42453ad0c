"""A session over made-up pictures, for the tests of this room and of the browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from segstress.voting.decision_log import DecisionLog
from segstress.voting.session import Session
from segstress.voting.trial_list import Mode, Question, TrialList, deal

MODELS = ("deeplab-secret", "fcn-secret", "psp-secret")
LABELS = "labels"  # the source of what annotators drew
SECRET = "0123456789abcdef"


class MadeUp:
    """Pictures drawn from their names."""

    def image(self, image: str) -> np.ndarray:
        return np.random.default_rng(sum(image.encode())).integers(256, size=(24, 32, 3)).astype(np.uint8)

    def labels(self, image: str, source: str) -> np.ndarray:
        number = (*MODELS, LABELS).index(source)
        labels = np.zeros((24, 32), dtype=np.uint8)
        labels[4:12, : 8 + 4 * number] = 1 + number % 2
        return labels


def questions(images: int = 10) -> list[Question]:
    pairs = [(MODELS[first], MODELS[second]) for first in range(3) for second in range(first + 1, 3)]
    return [
        Question(image=f"image{number}", models=pair, classes=("cat",)) for number in range(images) for pair in pairs
    ]


def make_session(folder: Path, mode: Mode = "choose", images: int = 10, repeats: float = 0.0) -> Session:
    asked = questions(images)
    if mode != "choose":
        models = (LABELS,) if mode == "review" else ()
        asked = [Question(image=f"image{number}", models=models, classes=("cat",)) for number in range(images)]
    decks: dict[str, TrialList] = {}

    def dealt(rater: str) -> TrialList:
        return decks.setdefault(rater, deal(asked, mode, rater, SECRET, repeats))

    session = Session(
        mode=mode,
        secret=SECRET,
        decision_log=DecisionLog(folder / f"decisions-{mode}.jsonl"),
        pictures=MadeUp(),
        deal=dealt,
        classes=("background", "cat", "dog"),
        palette=((40, 40, 40), (220, 120, 30), (60, 160, 220)),
        void=255,
    )
    for question in asked:
        session.know(question.image, question.models)
    return session
