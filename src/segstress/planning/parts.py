"""What attacks on single objects and pixels need of the data: a truth, and how many parts it has."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ..attacks.alone import Alone
from ..core import BadInput
from ..data import Dataset, Sample, readable
from ..data import load as load_data
from ..metrics.objects import objects
from .plan import Plan

LOOKED_AT = 20  # images in which a labelled pixel must be found


def check_truth(plan: Plan) -> None:
    """Refuse objects and pixels where nothing is labelled."""
    if not any(change.parts for change in plan.changes()):
        return
    for data in map(load_data, plan.data):
        samples = list(islice(readable(data, plan.ids(data)), LOOKED_AT))
        if samples and not any(sample.valid.any() for sample in samples):
            raise BadInput(
                f"{data.label} has no labelled pixel in its first {len(samples)} images; objects and pixels are taken "
                "from the truth, so --objects and --pixels need masks"
            )


def count_parts(alone: Alone, data: Dataset, ids: Sequence[str]) -> int:
    """Count the objects or pixels that will be attacked in these images, at most."""
    return sum(_count(alone, data, sample) for sample in readable(data, ids))


def _count(alone: Alone, data: Dataset, sample: Sample) -> int:
    if alone.parts == "pixels":
        return min(alone.number, int(sample.valid.sum()))
    return len(objects(sample.labels.numpy(), sample.valid.numpy(), data.background).classes)
