"""The scene that a dataset shows on average: for every pixel its most frequent class."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Annotated, ClassVar

import numpy as np
import torch

from ...core import BadImage, BadInput, Batch, Scene, Wanted, settings, targets
from ...data import Dataset, datasets, readable


@targets.register("majority")
@settings
class Majority:
    """The most frequent class of each pixel over a training split (after arXiv:2206.07179, there smoothed by hand).

    Example: `majority:shapes:train?count=200`. Ties go to the smaller id; pixels that are void in every image want
    nothing. The split's own resize rule must bring its labels to the size at which the model sees images.
    """

    positional: ClassVar = "data"
    positional_is_spec: ClassVar = True
    data: Annotated[Dataset, *datasets.field()]

    @property
    def label(self) -> str:
        """The name of the split."""
        return f"majority of {self.data.label}"

    def wanted(self, batch: Batch, scene: Scene) -> Wanted:
        """Return the same map for every image."""
        votes = _votes(json.dumps(datasets.spec(self.data), sort_keys=True), self.data.fingerprint())
        if votes.shape[1:] != batch.labels.shape[-2:]:
            given, expected = ("x".join(map(str, sides)) for sides in (votes.shape[1:], batch.labels.shape[-2:]))
            raise BadImage(f"target {self.label}: expected {expected} (height x width), found {given}; set its resize")
        labels, valid = torch.from_numpy(votes.argmax(0)), torch.from_numpy(votes).any(0)  # of equals, numpy's is first
        return Wanted(*(part.to(batch.labels.device).expand(batch.labels.shape) for part in (labels, valid)))


@lru_cache(maxsize=2)
def _votes(data: str, fingerprint: str) -> np.ndarray:
    """Count the images that show each class at each pixel (classes, h, w); another `fingerprint` counts anew."""
    dataset = datasets.build(json.loads(data))
    votes = np.zeros((len(dataset.classes), 0, 0), np.int32)
    for sample in readable(dataset, dataset.ids()):
        votes = votes if votes.size else np.zeros((len(votes), *sample.labels.shape), np.int32)
        if votes.shape[1:] != sample.labels.shape:
            raise BadInput(f"target: the images of {dataset.label} differ in size; give it resize=<height>x<width>")
        rows, columns = np.nonzero(sample.valid.numpy())
        votes[sample.labels.numpy()[rows, columns], rows, columns] += 1
    if not votes.any():
        raise BadInput(f"target: expected a labelled dataset, found no valid pixel in {dataset.label}")
    return votes
