"""What the model sees in another image."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Int64
from torch import Tensor

from ...core import BadImage, BadInput, Batch, Scene, Wanted, settings, targets
from ...metrics.counts import predict


@targets.register("prediction")
@settings
class Prediction:
    """The model's own prediction of the next image of the dataset, or of the one named: `prediction:val/0007`.

    The named image itself, which would be at its target already, takes the next one. These passes pose the problem
    and, like those of the judge, are not counted among the attack's.
    """

    positional: ClassVar = "image"
    image: str | None = None  # id; none = the next in the dataset's order, after the last the first

    @property
    def label(self) -> str:
        """Which image."""
        return f"prediction of {self.image or 'the next image'}"

    def wanted(self, batch: Batch, scene: Scene) -> Wanted:
        """Return the prediction that belongs to each image, one at a time: no image depends on its neighbours."""
        maps = [self._map(id_, batch, scene) for id_ in batch.ids]
        return Wanted(torch.stack(maps), torch.ones_like(batch.valid))

    @torch.no_grad()
    def _map(self, id_: str, batch: Batch, scene: Scene) -> Int64[Tensor, "h w"]:
        if scene.read is None or len(scene.ids) < 2:
            raise BadInput(f"target {self.label}: expected a dataset of at least two images, found no other")
        if self.image is not None and self.image not in scene.ids:
            raise BadInput(f"target {self.label}: the data has no image '{self.image}'; its first is '{scene.ids[0]}'")
        following = scene.ids[(scene.ids.index(id_) + 1) % len(scene.ids)]
        other = following if self.image in (None, id_) else self.image
        pixels = scene.read(other).to(batch.images)
        if pixels.shape != batch.images.shape[1:]:
            given, expected = ("x".join(map(str, sides.shape[-2:])) for sides in (pixels, batch.images))
            raise BadImage(f"target prediction of {other}: expected an image of {expected}, found {given}; set resize")
        return predict(scene.model(pixels[None]))[0]
