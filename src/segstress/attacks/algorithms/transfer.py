"""Images that were stored before: made against another model, or by other hands."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import model_validator
from torch import Tensor

from ...core import BadImage, settings
from ...data.perturbed_images import content_of, open_stored
from ..algorithm import Seeks, attacks
from ..search.problem import Problem

PRECISION = 1e-6  # rounding of float32 images, in [0, 1] units
EIGHT_BITS = 0.5 / 255  # the farthest that rounding to 8 bits carries a pixel


@attacks.register("transfer")
@settings
class Transfer:
    """Replay stored images, whatever model they were made for (Papernot et al. 2016, arXiv:1605.07277)."""

    positional: ClassVar = "source"
    seeks: ClassVar[Seeks] = "damage"
    reaches: ClassVar[float | None] = None  # as strong as the images are
    source: Path  # folder of a run, of one of its cells, or of PNG, NPY or NPZ files named by image id
    outside: Literal["clip", "refuse"] = "clip"  # what becomes of images outside the ball; 8-bit rounding is forgiven
    content: str = field(default="", repr=False)  # hash of what lies there, noted when the attack is asked for

    @model_validator(mode="after")
    def _note_content(self) -> Transfer:
        if not self.content and self.source.is_dir():  # a report is made also where the images are gone
            object.__setattr__(self, "content", content_of(self.source))
        return self

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Look at the first image of every id, at the second where there is one, and so on."""
        deltas = [self._deltas(problem, index) for index in range(len(problem.batch))]
        delta = torch.zeros_like(problem.batch.images)
        for number in range(max(map(len, deltas))):
            resting = torch.tensor([number >= len(several) for several in deltas], device=delta.device)
            delta = torch.stack([several[min(number, len(several) - 1)] for several in deltas])
            problem.peek(delta, resting=resting)
        return delta

    def _deltas(self, problem: Problem, index: int) -> list[Float[Tensor, "c h w"]]:
        """Read the stored images of one id, less the image itself."""
        id_, image = problem.batch.ids[index], problem.batch.images[index]
        stored = [pixels.to(image) for pixels in open_stored(self.source, self.content).read(id_)]
        fitting = [pixels for pixels in stored if pixels.shape == image.shape]
        if not fitting:
            stored_shape, wanted = ("x".join(map(str, pixels.shape)) for pixels in (stored[0], image))
            raise BadImage(
                f"{self.source}: '{id_}' is {stored_shape} (channels x height x width), the model sees {wanted}"
            )
        if self.outside == "refuse":
            for pixels in fitting:
                self._check(problem, id_, pixels, pixels - image)
        return [pixels - image for pixels in fitting]

    def _check(self, problem: Problem, id_: str, pixels: Tensor, delta: Tensor) -> None:
        """Refuse what lies outside the ball; by as much as rounding to 8 bits does, it is brought back instead."""
        levels = 255 * pixels
        rounded = bool((levels - levels.round()).abs().max() <= 255 * PRECISION)
        size = problem.feasible.size(delta[None])
        slack = problem.feasible.size(torch.full_like(delta, EIGHT_BITS if rounded else PRECISION)[None])
        if size > problem.threat.radius + slack:
            raise BadImage(f"{self.source}: '{id_}' is {float(size):.4g} away, outside the ball of {problem.threat}")

    def passes(self) -> tuple[int, int]:
        """Count one look at each stored image."""
        return open_stored(self.source, self.content).most, 0
