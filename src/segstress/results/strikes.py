"""The attacks of a multi-attack one by one, as pictures: what each of them did, and what was left to fool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..attacks.multi_attack import several
from ..runtime import Cell
from .run import Arrays, Run

IMAGES, CELLS = 2, 4  # of each model


@dataclass(frozen=True, eq=False)
class SingleAttack:
    """One attack of several."""

    perturbed: np.ndarray  # c h w, in [0, 1]
    alone: np.ndarray  # the prediction of its image
    together: np.ndarray  # each pixel as the first attack that fooled it left it, this one included


@dataclass(frozen=True, eq=False)
class StrikeFrames:
    """One image under all attacks of a multi-attack."""

    image: str
    model: str
    outcome: str
    truth: np.ndarray  # -1 where void
    clean: np.ndarray  # the clean prediction
    region: np.ndarray | None  # where they may act; none = everywhere
    wanted: np.ndarray | None  # the class that is wanted, -1 where none is; none = any wrong class
    strikes: tuple[SingleAttack, ...]
    palette: tuple[tuple[int, int, int], ...]


def read_strikes(run: Run) -> list[StrikeFrames]:
    """Return a few images under the multi-attacks of a run, as far as their pictures are stored."""
    by_model: dict[str, list[Cell]] = {}
    for cell in run.cells:
        if several(run.perturbations[cell.key]):
            by_model.setdefault(cell.names["model"], []).append(cell)
    return [
        frames
        for cells in by_model.values()
        for cell in cells[:: -(-len(cells) // CELLS)]
        for frames in _frames(run, cell)
    ]


def _frames(run: Run, cell: Cell) -> list[StrikeFrames]:
    ids = run.kept(cell)[:IMAGES]
    images, maps = run.photographs(cell, ids)
    number = cell.perturbation["number"]
    return [_frame(cell, id_, images, maps) for id_ in ids if f"cumulative-{number}|{id_}" in maps]


def _frame(cell: Cell, id_: str, images: Arrays, maps: Mapping[str, np.ndarray]) -> StrikeFrames:
    inside = maps.get(f"inside|{id_}")
    return StrikeFrames(
        image=id_,
        model=cell.names["model"],
        outcome=cell.names["perturbation"],
        truth=maps[f"truth|{id_}"],
        clean=maps[f"clean|{id_}"],
        region=None if inside is None else inside > 0,
        wanted=maps.get(f"wanted|{id_}"),
        strikes=tuple(
            SingleAttack(
                images[f"attack-{number}|{id_}"], maps[f"attack-{number}|{id_}"], maps[f"cumulative-{number}|{id_}"]
            )
            for number in range(1, cell.perturbation["number"] + 1)
        ),
        palette=tuple(tuple(colour) for colour in cell.dataset_info["palette"]),
    )
