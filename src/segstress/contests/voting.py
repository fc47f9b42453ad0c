"""The judge page of a competition: questions from the selection, decisions into its folder."""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..core import BadInput, to_plain
from ..core.files import write
from ..data.packed_arrays import pack, unpack
from ..data.palette import make_palette
from ..voting.session import Session
from ..voting.trial_list import Mode, Question, TrialList, check_name, deal
from .competition import Competition
from .images import ContestImages
from .screening import decisions

LABELS = "labels"  # the source of a map that annotators drew
REPEATS = 0.1  # share of trials shown again with sides swapped


class ContestPictures:
    """Pictures of a competition; a shard that was opened for one image hands over all that will be asked for."""

    def __init__(self, contest_images: ContestImages, images: Iterable[str]) -> None:
        self.contest_images, self.images = contest_images, frozenset(images)
        self.image = lru_cache(64)(contest_images.pixels)
        self._maps: dict[str, bytes] = {}  # compressed: many hundreds of images fit into memory

    def labels(self, image: str, source: str) -> np.ndarray:
        """Return a model's map, or the imported labels."""
        if source == LABELS:
            labels = self.contest_images.label(image)
            if labels is None:
                raise BadInput(f"image {image} has no labels; import them first")
            return labels
        if image not in self._maps:
            together = [other for other in self.contest_images.shard(image) if other in self.images]
            self._maps |= {other: pack(maps) for other, maps in self.contest_images.maps(together)}
        return unpack(self._maps[image])[source]


def open_session(competition: Competition, mode: Mode, repeats: float = REPEATS) -> Session:
    """Return a session over the images of a competition."""
    secret = _secret(competition.folder)
    to_ask = questions(competition, mode)
    vocabulary = competition.vocabulary
    data = competition.contest.data()
    palette = (
        data.palette
        if len(data.palette) == len(vocabulary.classes)
        else make_palette(len(vocabulary.classes), vocabulary.background)
    )
    session = Session(
        mode=mode,
        secret=secret,
        decision_log=decisions(competition.folder, mode),
        pictures=ContestPictures(competition.images(), [question.image for question in to_ask]),
        deal=_dealer(competition.folder, to_ask, mode, secret, repeats),
        classes=vocabulary.classes,
        palette=palette,
        void=vocabulary.scheme.void,
    )
    for question in to_ask:
        session.know(question.image, question.models)
    return session


def _secret(folder: Path) -> str:
    """Return what sides, names and signatures are drawn from; the same after a restart, so that open pages go on."""
    path = folder / "judge.json"
    if not path.exists():
        write(path, json.dumps({"secret": secrets.token_hex(32)}).encode(), mode=0o600)
    try:
        secret = json.loads(path.read_text())["secret"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} cannot be read ({error}); delete it, and hand out the links anew") from error
    return str(secret)


def questions(competition: Competition, mode: Mode) -> list[Question]:
    """Ask each image and unordered pair once, each image and class once, or each labelled image once."""
    names, vocabulary = competition.names, competition.vocabulary
    classes: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for member in competition.members():
        class_ = vocabulary.classes[member.class_]
        pair = sorted((names[member.defender], names[member.attacker]))
        key = {"choose": (member.image, *pair), "screen": (member.image, class_), "review": (member.image, LABELS)}[
            mode
        ]
        classes[key].add(class_)
    if mode == "screen":
        return [Question(image=image, classes=(class_,)) for image, class_ in classes]
    folder = competition.folder / "labels"
    return [
        Question(image=image, models=tuple(models), classes=tuple(sorted(shown)))
        for (image, *models), shown in classes.items()
        if mode == "choose" or (folder / f"{image}.png").exists()
    ]


def _dealer(folder: Path, to_ask: list[Question], mode: Mode, secret: str, repeats: float) -> Any:
    """Deal trial lists that are written down when first dealt, so that sides never change under a person's eyes."""

    def dealt(rater: str) -> TrialList:
        path = folder / "decks" / f"{mode}-{check_name(rater)}.json"
        before = _read(path) if path.exists() else None
        trial_list = deal(to_ask, mode, rater, secret, repeats if mode == "choose" else 0.0, before)
        if trial_list != before:
            write(path, json.dumps(to_plain(trial_list)).encode(), mode=0o600)
        return trial_list

    return lru_cache(256)(dealt)


def _read(path: Path) -> TrialList:
    try:
        return TrialList(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"{path} is damaged ({str(error).splitlines()[0]}); delete it to deal anew") from error
