"""The only way for an attack to look at the model: masks, projects, counts passes, remembers the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from ..core import BadInput, Batch, Threat, uniform
from ..metrics.counts import count, predict
from ..metrics.scores import image_miou
from .feasible import Feasible
from .losses import Loss, View, losses
from .tracker import Tracker

Deltas = Float[Tensor, "b c h w"]
PerImage = Float[Tensor, " b"]
Mask = Bool[Tensor, "b h w"]


@dataclass(frozen=True)
class Look:
    """What one forward and backward pass showed; gradient and losses are zero where an image was already finished."""

    gradient: Deltas  # uphill for the attacker, of the loss summed over an image's pixels
    loss: PerImage
    track: PerImage  # the second loss, on the same logits
    damage: PerImage  # share of the aimed pixels that are won


@dataclass(frozen=True)
class _Pass:
    """One forward pass over the images that are not finished."""

    places: list[int]
    view: View
    prediction: Int64[Tensor, "n h w"]
    aim: Bool[Tensor, "n h w"]

    def total(self, loss: str | Loss) -> Float[Tensor, " n"]:
        """A loss summed over the aimed pixels of each image."""
        values = (losses.get(loss) if isinstance(loss, str) else loss)(self.view)
        return torch.where(self.aim, values, 0).flatten(1).sum(1)


class Problem:
    """One batch under one threat, for the length of one attack."""

    def __init__(
        self,
        model: nn.Module,
        batch: Batch,
        threat: Threat,
        *,
        region: Mask | None = None,
        aim: Mask | None = None,
        seed: int = 0,
        keep: Literal["best", "last"] = "best",
    ) -> None:
        if model.training:
            raise BadInput("the model is in train mode, so its output depends on the batch; call model.eval() first")
        self.model, self.batch, self.threat, self.seed, self.keep = model, batch, threat, seed, keep
        self.targeted = batch.goal is not None
        self.labels = batch.labels if batch.goal is None else batch.goal
        valid = batch.valid if batch.goal_valid is None else batch.goal_valid
        self.aim = valid if aim is None else valid & aim
        self.feasible = Feasible(batch.images, threat.norm, region)
        self.forwards = torch.zeros(len(batch), dtype=torch.int64)
        self.backwards = torch.zeros(len(batch), dtype=torch.int64)
        self.trackers = {goal: Tracker(batch.images) for goal in (["any"] if self.targeted else ["accuracy", "miou"])}
        self._unfinished = list(range(len(batch)))
        if keep == "best":
            self.peek(torch.zeros_like(batch.images))

    @property
    def finished(self) -> bool:
        """Whether no image has a pixel left to win."""
        return not self._unfinished

    def start(self, random: bool, purpose: str = "start-0") -> Deltas:
        """Zero, or a draw from the ball that depends on seed and image id only."""
        images, radius = self.batch.images, self.threat.radius
        if not random:
            return torch.zeros_like(images)
        draw = uniform(images, self.batch.ids, self.seed, purpose)
        return self.feasible.project(
            radius * (draw if self.threat.norm == "linf" else self.feasible.steepest(draw)), radius
        )

    def look(
        self,
        delta: Deltas,
        loss: str | Loss,
        progress: float = 0.0,
        *,
        radius: float | None = None,
        track: str | Loss | None = None,
    ) -> Look:
        """Forward and backward at the delta, projected into `radius` (the threat's own by default)."""
        delta = self.feasible.project(delta, self.threat.radius if radius is None else radius)
        gradient, (value, tracked, damage) = torch.zeros_like(delta), delta.new_zeros(3, len(self.batch))
        damage += 1
        if self.finished:
            return Look(gradient, value, tracked, damage)
        with torch.enable_grad():
            images = _select(self.feasible.apply(delta), self._unfinished).detach().requires_grad_()
            seen = self._forward(images, progress)
            totals = seen.total(loss)
            (slope,) = torch.autograd.grad(totals.sum(), images)
        self.backwards[seen.places] += 1
        gradient[seen.places] = -slope if self.targeted else slope
        value[seen.places] = totals.detach()
        if track is not None:
            with torch.no_grad():
                tracked[seen.places] = seen.total(track)
        damage[seen.places] = 1 - _share(seen.view.standing, seen.aim).to(damage)
        self._remember(delta, seen)
        return Look(gradient, value, tracked, damage)

    @torch.no_grad()
    def peek(self, delta: Deltas) -> None:
        """Forward only, so that the memory knows this delta too."""
        if not self.finished:
            delta = self.feasible.project(delta, self.threat.radius)
            self._remember(delta, self._forward(_select(self.feasible.apply(delta), self._unfinished), 1.0))

    def _forward(self, images: Float[Tensor, "n c h w"], progress: float) -> _Pass:
        places = self._unfinished
        logits = self.model(images)
        self.forwards[places] += 1
        labels, aim = _select(self.labels, places), _select(self.aim, places)
        prediction = predict(logits.detach())
        standing = aim & ((prediction != labels) if self.targeted else (prediction == labels))
        return _Pass(places, View(logits, labels, standing, progress, self.targeted), prediction, aim)

    def _remember(self, delta: Deltas, seen: _Pass) -> None:
        """Show the iterate to the trackers where it lies inside the threat's ball, and let finished images go."""
        if self.keep == "last":
            return
        standing = seen.view.standing.flatten(1).sum(1).double()
        eligible = torch.zeros(len(self.batch), dtype=torch.bool, device=delta.device)
        eligible[seen.places] = True
        eligible &= self.feasible.size(delta) <= self.threat.radius * (1 + 1e-6)
        for goal, tracker in self.trackers.items():
            score = torch.full_like(tracker.score, torch.inf)
            score[seen.places] = self._miou(seen) if goal == "miou" else standing
            tracker.show(score, delta, eligible)
        left = next(iter(self.trackers.values())).score > 0
        self._unfinished = [place for place in seen.places if left[place]]

    def _miou(self, seen: _Pass) -> Float[Tensor, " n"]:
        classes = seen.view.logits.shape[1]
        return image_miou(count(seen.prediction, seen.view.labels, seen.aim, classes))


def _select(tensor: Tensor, places: list[int]) -> Tensor:
    """Those images only; no copy while all are wanted."""
    return tensor if len(places) == len(tensor) else tensor[places]


def _share(part: Bool[Tensor, "n h w"], whole: Bool[Tensor, "n h w"]) -> Float[Tensor, " n"]:
    return part.flatten(1).sum(1) / whole.flatten(1).sum(1).clamp(min=1)
