"""The scene that a dataset shows on average: for every pixel its most frequent class."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Annotated, ClassVar

import numpy as np
import torch
from jaxtyping import Int64
from scipy import ndimage

from ...core import BadImage, BadInput, Batch, Scene, Wanted, settings, targets
from ...core.quantities import PixelsOrNone
from ...data import Dataset, datasets, readable


@targets.register("majority")
@settings
class Majority:
    """The most frequent class of each pixel over a training split (after arXiv:2206.07179, there smoothed by hand).

    Example: `majority:shapes:train?count=200`. Ties go to the smaller id; void votes as void, and a pixel that is void
    more often than it is of any one class wants nothing. The split's own resize rule must bring its labels to the size
    at which the model sees images. `smooth` is our stand-in for the hand's work: a pixel takes what most of its
    neighbourhood wants.
    """

    positional: ClassVar = "data"
    positional_is_spec: ClassVar = True
    data: Annotated[Dataset, *datasets.field()]
    smooth: PixelsOrNone = 0  # side of the square whose most frequent class a pixel takes; 0 = as voted

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
        void = len(votes) - 1
        choice = _smoothed(votes.argmax(0), len(votes), self.smooth)  # of equals, numpy's is first
        labels, valid = torch.from_numpy(np.where(choice == void, 0, choice)), torch.from_numpy(choice != void)
        return Wanted(*(part.to(batch.labels.device).expand(batch.labels.shape) for part in (labels, valid)))


targets.preset(
    "majority-smooth", Majority, "The same, each pixel as most of 33 x 33 around it (ours; arXiv:2206.07179)", smooth=33
)


def _smoothed(choice: Int64[np.ndarray, "h w"], classes: int, side: int) -> Int64[np.ndarray, "h w"]:
    """Give each pixel the class that most pixels of a square around it have, of equals the smallest."""
    if side <= 1:
        return choice
    votes = ((choice == class_).astype(np.float64) for class_ in range(classes))
    shares = [ndimage.uniform_filter(vote, side, mode="constant") for vote in votes]  # outside nobody votes
    return np.stack(shares).round(9).argmax(0)  # the filter's running sums are not exact


@lru_cache(maxsize=2)
def _votes(data: str, fingerprint: str) -> np.ndarray:
    """Count the images that show each class, and last void, at each pixel; another `fingerprint` counts anew."""
    dataset = datasets.build(json.loads(data))
    void = len(dataset.classes)
    votes = np.zeros((void + 1, 0, 0), np.int32)
    for sample in readable(dataset, dataset.ids()):
        votes = votes if votes.size else np.zeros((len(votes), *sample.labels.shape), np.int32)
        if votes.shape[1:] != sample.labels.shape:
            raise BadInput(f"target: the images of {dataset.label} differ in size; give it resize=<height>x<width>")
        shown = np.where(sample.valid.numpy(), sample.labels.numpy(), void)
        votes[shown, *np.indices(shown.shape)] += 1
    if not votes[:void].any():
        raise BadInput(f"target: expected a labelled dataset, found no valid pixel in {dataset.label}")
    return votes
