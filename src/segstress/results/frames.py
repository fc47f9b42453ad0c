"""Pictures that a run kept: a few images at once, all of them a shard at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ..core import Perturbation
from ..runtime import Cell
from .run import Arrays, Run
from .study import Frame

Members = Sequence[tuple[Cell, Perturbation]]


class KeptFrames:
    """The images of a study with pictures beyond those that it holds, read anew whenever they are wanted."""

    def __init__(self, run: Run, clean: Cell, members: Members, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        self._run, self._clean, self._members = run, clean, members

    def first(self, count: int) -> KeptFrames:
        """Return a reader of so many images."""
        return KeptFrames(self._run, self._clean, self._members, self.ids[:count])

    def __iter__(self) -> Iterator[Frame]:
        """Yield the frames, one perturbation and one of its shards after the other."""
        wanted = frozenset(self.ids)
        for cell, change in self._members if wanted else ():
            for images, maps in self._run.photograph_shards(cell, wanted):
                here = list(dict.fromkeys(key.partition("|")[2] for key in images))
                clean = self._run.photographs(self._clean, frozenset(here))
                yield from frames_of(here, change.name, clean, (images, maps))


def read_frames(run: Run, clean: Cell, members: Members, ids: Collection[str]) -> tuple[Frame, ...]:
    """Return the pictures of a few images, for every perturbation that has them."""
    sources = run.photographs(clean, ids)
    return tuple(
        frame for cell, change in members for frame in frames_of(ids, change.name, sources, run.photographs(cell, ids))
    )


def frames_of(
    ids: Collection[str], outcome: str, clean: tuple[Arrays, Arrays], perturbed: tuple[Arrays, Arrays]
) -> Iterator[Frame]:
    """Yield the frames of images that are there, as they are worst for accuracy."""
    for id_ in ids:
        goal = "accuracy" if f"accuracy|{id_}" in perturbed[0] else "any"
        if f"{goal}|{id_}" in perturbed[0]:
            yield frame_of(id_, outcome, goal, clean, perturbed)


def frame_of(
    id_: str, outcome: str, goal: str, clean: tuple[Arrays, Arrays], perturbed: tuple[Arrays, Arrays]
) -> Frame:
    """Put together the pictures of an image, from the arrays of the clean cell and of the perturbation's."""
    (sources, truths), (images, maps) = clean, perturbed
    return Frame(
        image_id=id_,
        outcome=outcome,
        image=sources[f"any|{id_}"],
        perturbed=images[f"{goal}|{id_}"],
        truth=truths[f"truth|{id_}"].astype(np.int64),
        clean=truths[f"clean|{id_}"].astype(np.int64),
        prediction=maps[f"{goal}|{id_}"].astype(np.int64),
    )
