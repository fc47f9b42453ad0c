"""What a step of training looks at: clean images, adversarial ones, or some of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import floor
from typing import Annotated, Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from ..core import Batch, Registry, settings
from .trainee import Trainee

PUBLISHED = "step=0.01&random_start=false&keep=last"  # what the inner attacks of all published recipes share
PGD = f"pgd?steps=3&eps=0.03&{PUBLISHED}"
Share = Annotated[float, Field(ge=0, le=1)]
Make = Callable[[int], nn.Module]  # the network with so many outputs
Harm = Callable[[Batch], Batch]  # the batch with its images attacked, the network in eval mode meanwhile


@dataclass(frozen=True)
class Losses:
    """What a batch adds to the loss, as sums: only the loop knows over how many pixels a step goes."""

    valid: Float[Tensor, ""]  # over valid pixels
    every: Float[Tensor, ""]  # over all pixels, void or not
    hits: Tensor  # valid pixels that the main head has right


@runtime_checkable
class Recipe(Protocol):
    """A way to train."""

    @property
    def attack(self) -> str | dict[str, Any]:
        """Spec of the attack inside the loop."""
        ...

    def trainee(self, make: Make, classes: int) -> Trainee:
        """Return the network as this recipe trains it."""
        ...

    def loss(self, network: Trainee, batch: Batch, first: int, harm: Harm) -> Losses:
        """Go forward in train mode; `first` is the running number of the batch's first image since training began."""
        ...


recipes: Registry[Recipe] = Registry("recipe")


@recipes.register("adversarial")
@settings
class Adversarial:
    """A share of all images is attacked before the step (Madry et al. 2018, arXiv:1706.06083)."""

    attack: str | dict[str, Any] = (
        PGD  # any attack by name; the last iterate without random start is the published choice
    )
    share: Share = 1.0  # of images that are attacked; the others are clean, and cost nothing more
    auxiliary: Annotated[float, Field(ge=0)] = 0.4  # weight of every head but the main one

    def trainee(self, make: Make, classes: int) -> Trainee:
        """Return the network as it is."""
        return Trainee(make(classes))

    def loss(self, network: Trainee, batch: Batch, first: int, harm: Harm) -> Losses:
        """Return the cross-entropy of every head on the mixed batch."""
        mixed = mix(batch, perturbed_indices(len(batch), first, self.share), harm)
        heads = network.heads(mixed.images)
        main = heads.pop("main")
        valid = cross_entropy(main, mixed)
        for logits in heads.values():
            valid = valid + self.auxiliary * cross_entropy(logits, mixed)
        return Losses(valid=valid, every=torch.zeros_like(valid), hits=hits(main, mixed))


recipes.preset("normal", Adversarial, "Clean images only", share=0.0)
recipes.preset(
    "pgd-at",
    Adversarial,
    "Half of the images, or another share, under 3 steps of PGD (arXiv:2003.06555)",
    share=0.5,
)
recipes.preset(
    "segpgd-at",
    Adversarial,
    "Half of the images, or another share, under 3 steps of SegPGD (Gu et al. 2022, arXiv:2207.12391)",
    attack=f"segpgd?steps=3&eps=0.03&{PUBLISHED}",
    share=0.5,
)
recipes.preset(
    "pir-at",
    Adversarial,
    "All images under 5 steps of PGD, on a backbone that is robust already (Croce et al. 2024, arXiv:2306.12941)",
    attack=f"pgd?steps=5&eps=4/255&{PUBLISHED}",
)
recipes.preset(
    "annealed-at",
    Adversarial,
    "All images under 3 steps of the attack on the annealed error (ours, docs/annealed.md; loop of arXiv:1706.06083)",
    attack="annealed-error?steps=3&eps=0.03&keep=last",
)


def perturbed_indices(count: int, first: int, share: float) -> list[int]:
    """Return indices of images to attack, spread evenly over all that training sees, whatever a batch's size."""
    return [index for index in range(count) if floor((first + index + 1) * share) > floor((first + index) * share)]


def mix(batch: Batch, indices: list[int], harm: Harm) -> Batch:
    """Attack the images at these indices of the batch, and no others."""
    if not indices:
        return batch
    if len(indices) == len(batch):
        return harm(batch)
    images = batch.images.clone()
    images[indices] = harm(batch.pick(indices)).images
    return replace(batch, images=images)


def cross_entropy(logits: Float[Tensor, "b k h w"], batch: Batch) -> Float[Tensor, ""]:
    """Sum cross-entropy over valid pixels."""
    pixels = functional.cross_entropy(logits.float(), batch.labels, reduction="none")
    return torch.where(batch.valid, pixels, 0).sum()


def hits(logits: Float[Tensor, "b k h w"], batch: Batch) -> Tensor:
    """Count valid pixels whose own class has the largest logit; none where logits are no numbers."""
    seen = logits.detach()
    right = seen.gather(1, batch.labels[:, None])[:, 0] >= seen.amax(1)
    return (right & batch.valid).sum()
