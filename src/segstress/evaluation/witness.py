"""See the image of every part that was attacked alone with fresh eyes; only what is seen here counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor, nn

from ..attacks.alone import Alone, Strike, compose
from ..core import Batch, Perturbed, Result, seed_of
from ..results.part_frames import example_key
from .recheck import faults


@dataclass
class Witness:
    """Re-check the parts of a batch: whether their images are allowed, and what the original model says of them.

    Of each image whose pictures are kept, one erased object is kept as well: chosen by hash, not by beauty."""

    alone: Alone
    batch: Batch
    predict: Callable[[Tensor], Tensor]  # by a fresh forward pass of the original model
    seed: int
    keep: frozenset[str] = frozenset()
    flaws: list[str] = field(init=False)  # for each image the first thing wrong with any of its parts
    kept: dict[str, np.ndarray] = field(default_factory=dict)  # "erased-3|image" -> the image without its object 3
    maps: dict[str, np.ndarray] = field(default_factory=dict)  # the same -> what the model predicts on it

    def __post_init__(self) -> None:
        self.flaws = [""] * len(self.batch)

    def watch(self, model: nn.Module, clean: Tensor, background: int | None) -> Perturbed:
        """Attack every part with this model, and put together what is seen of them."""
        strikes = self.alone.strikes(model, self.batch, clean, self.seed, background)
        composed = compose(self.batch, clean, strikes, self.see)
        return replace(composed, zones=self.alone.zones(self.batch, self.seed))

    def see(self, strike: Strike) -> Tensor:
        """Return what the original model predicts on each of these images."""
        originals = self.batch.pick([strike.position] * len(strike.images))
        wrong = faults(self.alone, originals, Result("any", strike.images, strike.size), {})
        self.flaws[strike.position] = next(filter(None, (self.flaws[strike.position], *wrong)), "")
        seen = torch.cat([self.predict(image[None]) for image in strike.images])  # as verify will, to the last bit
        if self.alone.parts == "objects" and self.batch.ids[strike.position] in self.keep:
            self._keep(strike, seen, (seen != originals.labels) | ~strike.aims)
        return seen

    def _keep(self, strike: Strike, seen: Tensor, fallen: Tensor) -> None:
        """Keep the erased object of the lowest hash, of these and of what was kept before."""
        id_ = self.batch.ids[strike.position]
        erased = fallen.flatten(1).all(1).nonzero()[:, 0].tolist()
        indices = {example_key(strike.numbers[index], id_): index for index in erased}
        before = [key for key in self.kept if key.partition("|")[2] == id_]
        for key in sorted([*indices, *before], key=lambda key: seed_of(self.seed, key, "example"))[:1]:
            if key in indices:
                for worse in before:
                    del self.kept[worse], self.maps[worse]
                self.kept[key] = strike.images[indices[key]].float().cpu().numpy()
                self.maps[key] = seen[indices[key]].cpu().numpy().astype(np.int16)
