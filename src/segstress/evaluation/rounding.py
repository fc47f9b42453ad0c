"""After a run: do its images still do harm once they are rounded as files of the source are?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..attacks.alone import by_parts
from ..attacks.multi_attack import several
from ..core import Perturbation
from ..doctor.flag import Diagnosis, Flag
from ..results.run import Run
from ..runtime import Cell
from .worker import Worker

SAMPLES = 4  # kept images of each cell that are judged again
LOST = 0.05  # accuracy that rounding may give back


def round_off(run: Run, cells: Sequence[Cell], worker: Worker) -> list[Diagnosis]:
    """Return one diagnosis for each attack whose images do not survive."""
    diagnoses = []
    for cell in (cell for cell in cells if _searched_whole(run.perturbations[cell.key])):
        exact, rounded = _accuracies(run, cell, worker)
        depth = worker.referee(cell).data.depth
        if rounded > exact + LOST:
            flag = Flag(
                "rounding",
                f"{cell.names['perturbation']} leaves {exact:.1%} accuracy, but {rounded:.1%} with {depth} images",
                "harm that lies between two levels is lost in every file of that depth, and on every screen",
                "report both figures (segstress verify prints them), or attack with a radius of some grey levels",
            )
            diagnoses.append(Diagnosis(cell.names["model"], cell.names["data"], (flag,)))
    return diagnoses


def _searched_whole(change: Perturbation) -> bool:
    """Tell whether a prediction is simply the model's on an image that was searched for."""
    return change.threat is not None and not by_parts(change) and not several(change)


def _accuracies(run: Run, cell: Cell, worker: Worker) -> tuple[float, float]:
    """Return the accuracy on a few kept images, as they are and rounded."""
    (kept, maps), referee = run.pictures(cell, run.kept(cell)[:SAMPLES]), worker.referee(cell)
    right, right_rounded, total = 0, 0, 0
    for key in sorted(key for key in kept if not key.startswith("miou|"))[:SAMPLES]:
        pixels = torch.from_numpy(kept[key])[None].to(worker.numerics.device, worker.numerics.torch_dtype())
        truth = torch.from_numpy(maps[f"truth|{key.partition('|')[2]}"].astype(np.int64)).to(pixels.device)
        try:
            exact, rounded = (
                _correct(referee.predict(version), truth) for version in (pixels, referee.data.depth.round(pixels))
            )
        except Exception:  # noqa: BLE001 - the run is done, and a model that fails here cannot take it back
            continue
        right, right_rounded, total = right + exact, right_rounded + rounded, total + int((truth >= 0).sum())
    return right / max(total, 1), right_rounded / max(total, 1)


def _correct(prediction: Tensor, truth: Tensor) -> int:
    """Count pixels that are right; void is negative, and no prediction."""
    return int((prediction == truth).sum())
