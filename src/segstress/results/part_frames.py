"""Kept pictures of images whose parts were attacked one by one."""

from __future__ import annotations

import numpy as np
import torch

from ..attacks.alone import Alone, sampled
from ..core import seed_of
from ..runtime import Cell
from .run import Run
from .study import Frame, PartsFrame

GALLERY = 6  # images of each study in the page


def parts_frames(run: Run, clean: Cell, cell: Cell, alone: Alone) -> tuple[PartsFrame, ...]:
    """Return a few images with what fell in them, the first by id as in the gallery of joint attacks."""
    known = set(run.kept(clean))
    ids = [id_ for id_ in run.kept(cell) if id_ in known][:GALLERY]
    images, maps = run.photographs(clean, ids)[0], run.photographs(cell, ids)[1]
    return tuple(
        PartsFrame(
            image_id=id_,
            image=images[f"any|{id_}"],
            truth=maps[f"truth|{id_}"].astype(np.int64),
            clean=maps[f"clean|{id_}"].astype(np.int64),
            prediction=maps[f"any|{id_}"].astype(np.int64),
            attacked=_attacked(cell, alone, maps[f"truth|{id_}"], id_),
        )
        for id_ in ids
        if f"any|{id_}" in maps
    )


def _attacked(cell: Cell, alone: Alone, truth: np.ndarray, id_: str) -> np.ndarray:
    valid = truth >= 0
    if alone.parts == "objects":
        attacked: np.ndarray = valid & (truth != cell.dataset_info["background"])
    else:
        attacked = (sampled(torch.from_numpy(valid), alone.number, cell.seed, id_) > 0).numpy()
    return attacked


def erased_frames(run: Run, clean: Cell, cell: Cell) -> tuple[tuple[int, Frame], ...]:
    """Return a few of the objects that were erased and kept, at most one of an image, chosen by hash of its id.

    The clean image must have been kept too: it may be of an earlier go, when fewer were."""
    known = set(run.kept(clean))
    keys = [key for kept in run.store.batches(cell, "kept") for key in kept if key.partition("|")[2] in known]
    keys = sorted(keys, key=lambda key: seed_of(cell.seed, key.partition("|")[2], "erased"))[:GALLERY]
    ids = {key.partition("|")[2] for key in keys}
    sources, truths = run.photographs(clean, ids)
    images, maps = run.photographs(cell, ids)
    frames = []
    for key in keys:
        id_ = key.partition("|")[2]
        frame = Frame(
            image_id=id_,
            outcome=cell.names["perturbation"],
            image=sources[f"any|{id_}"],
            perturbed=images[key],
            truth=truths[f"truth|{id_}"].astype(np.int64),
            clean=truths[f"clean|{id_}"].astype(np.int64),
            prediction=maps[key].astype(np.int64),
        )
        frames.append((example_number(key), frame))
    return tuple(frames)


def example_number(key: str) -> int:
    """Return the object of such a key."""
    return int(key.partition("|")[0].removeprefix("erased-"))


def example_key(number: int, id_: str) -> str:
    """Return the key under which the image and the map of an erased object are stored."""
    return f"erased-{number}|{id_}"
