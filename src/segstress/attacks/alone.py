"""One object, or one pixel, attacked by itself with the whole budget: what a joint attack may have left."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, TypeGuard

import torch
from jaxtyping import Bool, Float, Int64
from pydantic import Field, model_validator
from torch import Tensor, nn

from ..core import (
    BALLS,
    BadInput,
    Batch,
    Perturbation,
    Perturbed,
    Result,
    Stage,
    Threat,
    describe,
    perturbations,
    settings,
    stream,
)
from ..core.quantities import Count
from ..metrics.counts import predict
from ..metrics.objects import objects
from .algorithm import Algorithm, attacks, needs_weights
from .search.problem import Problem

DEFAULTS = {  # chosen on shapes:val (docs/floors.md)
    "objects": {"kind": "momentum", "loss": "annealed-error", "steps": 50, "longest": 2.0},
    "pixels": {"kind": "momentum", "loss": "margin", "steps": 50},
}
Labels = Int64[Tensor, "b h w"]
Parts = Int64[Tensor, "h w"]  # 1 + number of the part that a pixel belongs to; 0 = none


@dataclass(frozen=True)
class Strike:
    """Copies of one image, each changed to break one part of it."""

    position: int  # of the image in its batch
    numbers: tuple[int, ...]  # of the parts
    aims: Bool[Tensor, "n h w"]
    images: Float[Tensor, "n c h w"]
    size: Float[Tensor, " n"]
    forwards: int
    backwards: int


@perturbations.register("alone")
@settings
class Alone:
    """Each object of the truth, or each of some pixels, attacked alone; the delta may act on the whole image.

    The prediction shows every part as it is under its own attack, and all else as on the clean image; no single image
    attains it. Parts without a correct pixel on the clean image have fallen already and cost nothing."""

    parts: Literal["objects", "pixels"]
    algorithm: Annotated[Algorithm, *attacks.field()]
    threat: Threat
    number: Count = 200  # pixels drawn of each image, among the valid ones
    together: Annotated[int, Field(ge=1, le=2**31)] = 2**17  # pixels in a pass, at least one copy's; bounds memory

    region: ClassVar[None] = None
    channels: ClassVar[None] = None
    curve_point: ClassVar[None] = None
    stage: ClassVar[Stage] = "network"

    @model_validator(mode="after")
    def _check(self) -> Alone:
        threat = self.threat
        if threat.target is not None or threat.reference != "truth":
            raise BadInput(f"{self.parts} alone: they are attacked away from the truth; leave target and reference out")
        if self.algorithm.seeks != "damage":
            raise BadInput(f"{self.parts} alone: expected an attack within a radius, such as momentum")
        if math.isinf(threat.radius):
            raise BadInput(f'{self.parts} alone: a radius is needed: give eps, for example eps="8/255"')
        name, keep = attacks.name(self.algorithm), getattr(self.algorithm, "keep", None) or "best"
        if keep != "best":
            raise BadInput(
                f"{self.parts} alone keep the iterate that does most to the part: expected an attack with keep=best, "
                f"found {name} with keep={keep}; give it keep=best"
            )
        if needs_weights(self.algorithm):
            raise BadInput(
                f"{self.parts} alone: attack {name} weighs classes by their pixels in a training split, and a part has "
                "one class; give balance=image, or an attack that weighs nothing, such as momentum"
            )
        if threat.norm not in getattr(self.algorithm, "norms", BALLS):
            raise BadInput(f"attack {name} does not work in norm {threat.norm}")
        return self

    @property
    def name(self) -> str:
        """What is attacked, and how."""
        which = "objects" if self.parts == "objects" else f"{self.number} pixels"
        return f"{which} alone by {attacks.name(self.algorithm)}"

    @property
    def label(self) -> str:
        """Its name in tables."""
        return f"{self.name} {self.threat}"

    @property
    def about(self) -> str:
        """The algorithm's settings and the threat in one line."""
        return f"{describe(self.algorithm)}; {self.threat}"

    def passes(self) -> tuple[int, int]:
        """Count the most forwards and backwards that one part costs."""
        forwards, backwards = self.algorithm.passes()
        return forwards + 2, backwards  # with looks at the clean image and at the last iterate

    def perturb(self, model: nn.Module, batch: Batch, seed: int) -> Perturbed:
        """Attack every part, as the model itself sees it; no class is background here."""

        def see(images: Float[Tensor, "n c h w"]) -> Labels:
            with torch.no_grad():
                return predict(model(images))

        clean = see(batch.images)
        strikes = self.strikes(model, batch, clean, seed)
        composed = compose(batch, clean, strikes, lambda strike: see(strike.images))
        return replace(composed, forwards=composed.forwards + 1, zones=self.zones(batch, seed))

    def zones(self, batch: Batch, seed: int) -> dict[str, Bool[Tensor, "b h w"]]:
        """Return the pixels that were drawn; objects are counted one by one and need no zone."""
        if self.parts == "objects":
            return {}
        return {"sampled": torch.stack([self._parts(batch, index, seed, None) > 0 for index in range(len(batch))])}

    def strikes(
        self, model: nn.Module, batch: Batch, clean: Labels, seed: int, background: int | None = None
    ) -> Iterator[Strike]:
        """Attack what is right on the clean image, image by image and as many parts at a time as memory allows."""
        copies = max(1, self.together // batch.labels[0].numel())
        for index in range(len(batch)):
            parts = self._parts(batch, index, seed, background)
            right = batch.valid[index] & (clean[index] == batch.labels[index])
            remaining = parts[right & (parts > 0)].unique().tolist()
            for first in range(0, len(remaining), copies):
                yield self._strike(model, batch, index, parts, remaining[first : first + copies], seed)

    def _parts(self, batch: Batch, index: int, seed: int, background: int | None) -> Parts:
        labels, valid = batch.labels[index], batch.valid[index]
        if self.parts == "pixels":
            return sampled(valid, self.number, seed, batch.ids[index])
        labelled = objects(labels.cpu().numpy(), valid.cpu().numpy(), background)
        return torch.from_numpy(labelled.components).to(labels)

    @torch.no_grad()
    def _strike(
        self, model: nn.Module, batch: Batch, index: int, parts: Parts, numbers: list[int], seed: int
    ) -> Strike:
        """Attack as many copies of an image as there are parts, each aimed at its own."""
        ids = tuple(f"{batch.ids[index]}/{part - 1}" for part in numbers)
        copies = replace(batch.pick([index] * len(numbers)), ids=ids)
        aims = parts == torch.tensor(numbers, device=parts.device)[:, None, None]
        problem = Problem(model, copies, self.threat, aim=aims, seed=seed)
        problem.peek(self.algorithm.run(problem))
        delta, allowed = problem.best()["accuracy"], problem.feasible
        return Strike(
            position=index,
            numbers=tuple(part - 1 for part in numbers),
            aims=aims,
            images=allowed.apply(delta),
            size=allowed.size(delta),
            forwards=int(problem.forwards.sum()),
            backwards=int(problem.backwards.sum()),
        )


def sampled(valid: Bool[Tensor, "h w"], number: int, seed: int, id_: str) -> Parts:
    """Draw so many valid pixels, or all where there are fewer; a draw depends on the seed and the image id only."""
    pixels = valid.flatten().nonzero()[:, 0]
    order = torch.randperm(len(pixels), generator=stream(seed, id_, "sampled"))[:number].to(pixels.device)
    parts = torch.zeros(valid.numel(), dtype=torch.int64, device=valid.device)
    parts[pixels[order]] = torch.arange(1, len(order) + 1, device=valid.device)
    return parts.view(valid.shape)


def compose(batch: Batch, clean: Labels, strikes: Iterable[Strike], see: Callable[[Strike], Labels]) -> Perturbed:
    """Show each part as in its own image, all else as on the clean one; the image handed over is the farthest."""
    shown, images, size = clean.clone(), batch.images.clone(), batch.images.new_zeros(len(batch))
    forwards, backwards = torch.zeros(len(batch), dtype=torch.int64), torch.zeros(len(batch), dtype=torch.int64)
    for strike in strikes:
        index, largest = strike.position, int(strike.size.argmax())
        own = torch.where(strike.aims, see(strike), 0).sum(0)  # parts share no pixel
        shown[index] = torch.where(strike.aims.any(0), own, shown[index])
        if strike.size[largest] > size[index]:
            images[index], size[index] = strike.images[largest], strike.size[largest]
        forwards[index] += strike.forwards
        backwards[index] += strike.backwards
    return Perturbed((Result("any", images, size, prediction=shown),), forwards, backwards)


def by_parts(change: Perturbation) -> TypeGuard[Alone]:
    """Tell whether a perturbation takes the parts of an image one by one."""
    return bool(change.parts)
