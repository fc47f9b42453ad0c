"""Referee adversarial images that were made elsewhere: a run like any other, whose one attack hands them over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core import BadInput
from ..data import load as load_data
from ..data.perturbed_images import Stored
from ..planning.plan import Plan, read_plan

ARRAYS = (".npy", ".npz")  # files that hold more than 8 bits


def score_plan(images: Path, **settings: Any) -> Plan:
    """Return the plan that scores a folder's images as they are; those outside the ball become error rows."""
    attack = {"attack": "transfer", "source": str(images), "outside": "refuse", "keep": "last"}
    return read_plan({**settings, "perturbations": [attack]})


def look_through(images: Path, plan: Plan) -> Iterator[str]:
    """Yield what is to be said of the files before they are scored; refuse those that cannot be of the data."""
    stored = Stored(images)
    several = [id_ for id_, pictures in stored.pictures.items() if len(pictures) > 1]
    if several:
        raise BadInput(
            f"{images} holds {len(stored.pictures[several[0]])} images of '{several[0]}', expected one of each; "
            f"replay them all with segstress attack --attack transfer:{images}"
        )
    for data in map(load_data, plan.data):
        wanted = plan.ids(data)
        if not set(wanted) & set(stored.pictures):
            raise BadInput(
                f"no file in {images} goes by an id of {data.label}: expected names such as '{wanted[0]}.png', "
                f"found '{next(iter(stored.pictures))}'"
            )
        strange = sorted(set(stored.pictures) - set(data.ids()))
        if strange:
            yield f"{images}: {len(strange)} images have no id in {data.label} and are left out, such as '{strange[0]}'"
    rounded = [id_ for id_, (source,) in stored.pictures.items() if source.path.suffix.lower() not in ARRAYS]
    if rounded:
        yield (
            f"{images}: {len(rounded)} images are stored with 8 bits, and rounding may have carried them out of the "
            "ball; by up to 0.5/255 a pixel they are brought back before they are judged, farther out they are refused"
        )
