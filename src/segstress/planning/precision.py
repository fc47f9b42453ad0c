"""How wide the intervals of a run will be, before it is begun."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice

import torch
from torch import nn

from ..data import Dataset, datasets, readable, stack
from ..metrics.counts import count, predict
from ..metrics.intervals import half_width
from ..metrics.scores import image_accuracy, image_miou
from ..models import models, ready
from .plan import Plan

LOOKED = 16  # clean images from whose spread the rest is foretold


@dataclass(frozen=True)
class Precision:
    """How far the clean figures of one model on one dataset will be sure; NaN where that cannot be foretold."""

    names: tuple[str, str]  # model, data
    images: int  # asked for
    looked: int
    accuracy: float  # half of the interval's width
    nmiou: float

    @property
    def known(self) -> bool:
        """Whether two images or more had a truth."""
        return not math.isnan(self.accuracy)


def expected_precision(plan: Plan) -> list[Precision]:
    """Predict up to sixteen clean images of every model and dataset, and spread them over the images asked for."""
    widths = []
    for model in map(models.build, plan.models):
        network, _ = ready(model, plan.numerics.device, plan.numerics.torch_dtype())
        for data in map(datasets.build, plan.data):
            widths.append(_look(plan, network, data, (model.label, data.label)))
    return widths


def _look(plan: Plan, network: nn.Module, data: Dataset, names: tuple[str, str]) -> Precision:
    ids, counts = plan.ids(data), []
    for sample in islice(readable(data, ids), LOOKED):
        batch = stack([sample]).to(plan.numerics.device, plan.numerics.torch_dtype())
        with torch.no_grad():
            logits = network(batch.images)
        counts.append(count(predict(logits), batch.labels, batch.valid, max(logits.shape[1], len(data.classes))))
    if not counts:
        return Precision(names, len(ids), 0, math.nan, math.nan)
    seen = torch.cat(counts).cpu().numpy()
    accuracy, nmiou = (half_width(score(seen), len(ids)) for score in (image_accuracy, image_miou))
    return Precision(names, len(ids), len(seen), accuracy, nmiou)
