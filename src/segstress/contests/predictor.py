"""Label maps of a model: images of one size go through it together, and their classes become the common ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from ..competition.vocabulary import Vocabulary
from ..core import BadImage
from ..data import Sample
from ..data.pipeline import fault_of
from ..data.sample import by_size
from ..metrics.counts import predict as labels_of
from ..models import ready
from ..runtime import Numerics
from .plan import Entrant

PASSES = 4  # passes of a block, inside which images of one size find each other

Labels = np.ndarray | str  # a map, or what went wrong


@dataclass(frozen=True)
class Predictor:
    """How models are loaded, and their answers brought to the common classes."""

    vocabulary: Vocabulary
    numerics: Numerics

    def model(self, entrant: Entrant) -> nn.Module:
        """Load a model onto its device."""
        return ready(entrant.spec, self.numerics.device, self.numerics.torch_dtype())[0]

    def blocks(self, names: Sequence[str]) -> list[Sequence[str]]:
        """Cut images into blocks by their places; which of them meet the model together follows from that alone."""
        size = PASSES * self.numerics.batch_size
        return [names[first : first + size] for first in range(0, len(names), size)]

    def passes(self, samples: Sequence[Sample]) -> Iterator[list[Sample]]:
        """Yield the images of a block that go through a model together."""
        return by_size(samples, self.numerics.batch_size)

    def maps(self, model: nn.Module, samples: Sequence[Sample], name: str) -> list[Labels]:
        """Return the labels of images of one size as the model of that name sees them.

        Where they fail together, each is tried alone."""
        try:
            return list(self._maps(model, samples, name))
        except Exception as error:  # noqa: BLE001 - `fault_of` raises again what is not the images' own
            fault = fault_of(error)
            if len(samples) == 1:
                return [fault]
        return [labels for sample in samples for labels in self.maps(model, [sample], name)]

    @torch.no_grad()
    def _maps(self, model: nn.Module, samples: Sequence[Sample], name: str) -> Iterator[np.ndarray]:
        numerics = self.numerics
        images = torch.stack([sample.image for sample in samples]).to(numerics.device, numerics.torch_dtype())
        logits = model(images)
        if logits.shape[-2:] != images.shape[-2:]:
            raise BadImage(f"the prediction is {tuple(logits.shape[-2:])}, the image {tuple(images.shape[-2:])}")
        for labels in labels_of(logits).cpu().numpy():
            yield self.vocabulary.translate(labels, name)
