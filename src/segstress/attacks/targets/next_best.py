"""The class that nearly won."""

from __future__ import annotations

import torch

from ...core import Batch, Scene, Wanted, settings, targets
from ...metrics.counts import predict


@targets.register("next-best")
@settings
class NextBest:
    """At every pixel the best class of the clean image but its label: the nearest way to be wrong everywhere.

    This pass poses the problem and, like those of the judge, is not counted among the attack's."""

    @property
    def label(self) -> str:
        """What is wanted."""
        return "the next best class"

    @torch.no_grad()
    def wanted(self, batch: Batch, scene: Scene) -> Wanted:
        """Return the runner-up of every valid pixel."""
        rivals = predict(scene.model(batch.images), without=(batch.labels,))
        return Wanted(torch.where(batch.valid, rivals, 0), batch.valid)
