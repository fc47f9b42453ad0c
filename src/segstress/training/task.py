"""What is to be trained, on what and how: all that the loop needs, ready to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ..core import BadInput, Perturbation
from .batches import Reader
from .optimisers import Optimiser
from .processes import world
from .recipes import Recipe
from .schedules import Schedule
from .trainee import Trainee

LOOKED_AT = 8  # images that are read before the first step


@dataclass(frozen=True)
class Task:
    """One training."""

    network: Trainee  # on its device
    train: Reader
    recipe: Recipe
    attack: Perturbation  # inside the loop
    optimiser: Optimiser
    schedule: Schedule
    epochs: int
    batch_size: int  # images of a step, over all processes
    card: Mapping[str, Any]  # what the checkpoint's card says besides figures
    parts: int = 1  # forward passes by which each process makes its share of a step
    validation: Reader | None = None
    probe: Perturbation | None = None  # a short attack, to watch robustness while training
    every: int = 1  # epochs between validations
    save_every: int = 500  # steps between states, besides the end of each epoch
    device: str = "cpu"
    mixed: bool = False  # bfloat16 where torch thinks it safe
    seed: int = 0

    @property
    def steps(self) -> int:
        """Of one epoch."""
        return len(self.train.ids) // self.batch_size

    def check(self) -> None:
        """Refuse what cannot be trained, before the first step."""
        name, size, share = self.train.data.name, self.batch_size, self.parts * world()
        if size % share:
            raise BadInput(f"batch_size {size} cannot be cut into {share} parts ({world()} processes x {self.parts})")
        if not self.steps:
            raise BadInput(f"{name} has {len(self.train.ids)} images, fewer than one batch of {size}")
        if self.mixed and self.device.startswith("cuda") and not torch.cuda.is_bf16_supported():
            raise BadInput(f"{self.device} has no bfloat16; leave mixed off")
        if self.validation and self.validation.data.classes != self.train.data.classes:
            raise BadInput(f"{name} and {self.validation.data.name} have other classes; validate on images of the same")
        samples = [self.train.read(id_) for id_ in self.train.ids[:LOOKED_AT]]
        if not any(sample.valid.any() for sample in samples):
            raise BadInput(f"{name} has no labelled pixel in its first {len(samples)} images; training needs masks")
        with torch.no_grad():
            images = samples[0].image[None].to(self.device)
            logits = self.network.eval()(images)
        if logits.shape[1] != len(self.train.data.classes):
            raise BadInput(
                f"the network gives {logits.shape[1]} classes, {name} has {len(self.train.data.classes)}; "
                "set the model's classes (of a transformers folder: num_labels in its config.json)"
            )
        if logits.shape[-2:] != images.shape[-2:]:
            sides, wanted = tuple(logits.shape[-2:]), tuple(images.shape[-2:])
            raise BadInput(f"the network gives logits of {sides} for images of {wanted}; resize them inside it")
