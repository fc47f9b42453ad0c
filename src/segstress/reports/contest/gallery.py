"""Selected images as pictures: the image, its truth, the predictions, and where two of them differ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...competition.ranking_report import RankingReport
from ..kit.naming import percent, slugs
from ..kit.pictures import GalleryPicture, Strip, is_large, paint
from .contested import Contested, SelectedImage, telling

MARK = (201, 81, 47)  # where the predictions differ
SHOWN = 12  # images in rows; the others are found by a click on a matrix
FILE, VARIABLE = "gallery/contest.js", "SEGSTRESS_CONTEST"
DIGITS = 4  # of a figure


class ContestFiles:
    """Names of the pictures of a competition, for the page and for its script."""

    def __init__(self, contested: Contested) -> None:
        self.contested = contested
        self.images = {image.image_id: image for image in contested.images}

    @cached_property
    def slugs(self) -> dict[str, str]:
        """The name of each image that has pictures."""
        return dict(zip(self.images, slugs(list(self.images)), strict=True))

    @cached_property
    def models(self) -> dict[str, str]:
        """The name of each model in files; numbered, since one may be called truth."""
        return {name: f"model-{number}" for number, name in enumerate(self.contested.ranking_report.names)}

    def file(self, image: str, what: str) -> str:
        """Join by two dashes, which no name has."""
        return f"gallery/{self.slugs[image]}--{what}.png"

    def pictures(self, image: SelectedImage) -> dict[str, GalleryPicture]:
        """Return the image, its truth and every prediction, by what they show."""
        id_, colours = image.image_id, self.contested.palette
        photo = partial(np.asarray, image.pixels)
        shown = {"image": GalleryPicture("image", self.file(id_, "image"), photo, photograph=True)}
        if image.truth is not None:
            shown["truth"] = GalleryPicture("truth", self.file(id_, "truth"), partial(paint, image.truth, colours))
        for model, labels in image.maps.items():
            shown[model] = GalleryPicture(model, self.file(id_, self.models[model]), partial(paint, labels, colours))
        return shown


def strips(contested: Contested) -> Iterator[Strip]:
    """Show the most telling images as rows, with the two models that each was selected for; then write all others."""
    files, ranking = ContestFiles(contested), contested.ranking_report
    rows: dict[str, int] = {}
    for index in telling(ranking):
        rows.setdefault(ranking.members[index].image, index)
    for number, (id_, index) in enumerate((id_, index) for id_, index in rows.items() if id_ in files.images):
        image, member = files.images[id_], ranking.members[index]
        pictures = files.pictures(image)
        if number < SHOWN:
            pair = [ranking.names[model] for model in (member.defender, member.attacker)]
            draw = partial(_differences, image, *pair)
            differ = GalleryPicture("where they differ", files.file(id_, "differ"), draw)
            row = (*(pictures[name] for name in ("image", "truth", *pair) if name in pictures), differ)
            yield Strip("", _words(ranking, index, contested.classes[member.class_]), row)
        yield Strip("", "", tuple(pictures.values()), shown=False)


def catalogue(contested: Contested) -> dict[str, Any]:
    """Return what the page's script knows: every membership with its figures, and which pictures there are."""
    files, ranking = ContestFiles(contested), contested.ranking_report
    numbers = {id_: number for number, id_ in enumerate(files.images)}
    scored, unknown = ranking.scored, np.full(len(ranking.members), np.nan)
    qualities = (unknown, unknown) if scored is None else (scored.defended, scored.attacked)
    return {
        "models": [[name, files.models[name]] for name in ranking.names],
        "classes": list(contested.classes),
        "images": [
            [image.image_id, files.slugs[image.image_id], image.truth is not None, is_large(image.pixels)]
            for image in contested.images
        ],
        "members": [
            [
                *(member.image, numbers.get(member.image, -1), member.defender, member.attacker, member.class_),
                *(_number(value) for value in (member.score, member.share, own, other)),
            ]
            for member, own, other in zip(ranking.members, *qualities, strict=True)
        ],
    }


def _number(value: float) -> float | None:
    return round(float(value), DIGITS) if np.isfinite(value) else None


def _words(ranking: RankingReport, index: int, class_: str) -> str:
    member = ranking.members[index]
    start = f"{member.image}, chosen for {class_}: agreement {percent(member.score)} %"
    if ranking.scored is None:
        return start
    own, other = (percent(float(side[index])) for side in (ranking.scored.defended, ranking.scored.attacked))
    return (
        f"{start}; mIoU of {ranking.names[member.defender]} (defender) {own} %,"
        f" of {ranking.names[member.attacker]} (attacker) {other} %"
    )


def _differences(image: SelectedImage, first: str, second: str) -> np.ndarray:
    """Mark on a grey image where two predictions differ."""
    grey = image.pixels.mean(-1, keepdims=True).repeat(3, -1) * 0.5 + 90
    marked: np.ndarray = np.where((image.maps[first] != image.maps[second])[..., None], MARK, grey).astype(np.uint8)
    return marked
