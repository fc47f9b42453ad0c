"""The only way for an attack to look at the model: masks, projects, counts passes, remembers the best."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ...core import BadInput, Batch, Threat, uniform
from ..losses import Loss, Past, View
from .feasible import Deltas, Feasible, PerImage, per_image
from .history import History
from .look import Effect, Look
from .passes import Seen, balance, mean, read, select, spread, tally
from .tracker import SmallestTracker, Tracker, suffices

Mask = Bool[Tensor, "b h w"]
Seeks = Literal["damage", "smallness"]
Keep = Literal["best", "accuracy", "smallest", "last"]
THRESHOLDS = (0.99, 0.95, 0.9)  # shares of won pixels for which a search for smallness keeps its best


class Problem:
    """One batch under one threat, for the length of one attack."""

    def __init__(
        self,
        model: nn.Module,
        batch: Batch,
        threat: Threat,
        *,
        seeks: Seeks = "damage",
        region: Mask | None = None,
        aim: Mask | None = None,
        weights: tuple[float, ...] = (),
        seed: int = 0,
        draws: int = 1,
        keep: Keep = "best",
    ) -> None:
        if model.training:
            raise BadInput("the model is in train mode, so its output depends on the batch; call model.eval() first")
        self.model, self.batch, self.threat, self.seed = model, batch, threat, seed
        self.seeks, self.draws, self.keep = seeks, draws, keep
        self.reach = threat.radius if seeks == "damage" else math.inf  # how far a look goes
        self.targeted = batch.goal is not None
        self.labels = batch.labels if batch.goal is None else batch.goal
        valid = batch.valid if batch.goal_valid is None else batch.goal_valid
        self.aim = valid if aim is None else valid & aim
        self.aimed = self.aim.flatten(1).sum(1)
        self.balance = balance(self.labels, self.aim, weights).to(batch.images)
        self.feasible = Feasible(batch.images, threat.norm, region)
        self.forwards = torch.zeros(len(batch), dtype=torch.int64)
        self.backwards = torch.zeros(len(batch), dtype=torch.int64)
        self._trackers = {goal: Tracker(batch.images, newest=keep == "accuracy") for goal in self._goals()}
        lower = [share for share in THRESHOLDS if share < threat.enough]
        shares = [threat.enough, *lower] if seeks == "smallness" else []
        newest = keep == "smallest"
        self._smallest = {f"{100 * share:g}%": SmallestTracker(batch.images, share, newest=newest) for share in shares}
        self._unfinished, self._looks = list(range(len(batch))), 0
        self.history = History()
        self._past: Past | None = None
        self._first_distance: PerImage | None = None
        if keep != "last":
            self.peek(torch.zeros_like(batch.images))

    def _goals(self) -> tuple[str, ...]:
        """Name what the most harmful delta inside the ball is kept for; a search for smallness alone keeps none."""
        if math.isinf(self.threat.radius) or self.keep in ("smallest", "last"):
            return ()
        return ("any",) if self.targeted or self.keep == "accuracy" else ("accuracy", "miou")

    def best(self) -> dict[str, Deltas]:
        """Return the most harmful deltas so far inside the threat's ball, one for each goal."""
        return {goal: tracker.delta for goal, tracker in self._trackers.items()}

    def smallest(self) -> dict[str, Deltas]:
        """Return the smallest deltas so far that do enough, one for each threshold, that of the threat first.

        Until one does enough it is the most harmful."""
        return {goal: smallest.delta for goal, smallest in self._smallest.items()}

    def smallest_size(self, goal: str | None = None) -> Float[Tensor, " b"]:
        """Measure the smallest, of the threat's threshold or another; above any delta's where none does enough."""
        return self._smallest[next(iter(self._smallest)) if goal is None else goal].score

    def forget_failures(self) -> None:
        """Put the clean image in place of every smallest delta that does not do enough."""
        for smallest in self._smallest.values():
            smallest.forget_failures()

    def settle(self, deltas: Deltas, success: Bool[Tensor, " b"]) -> None:
        """Answer for the threat's own threshold with these deltas where they do enough, whatever else was smaller."""
        first = next(iter(self._smallest.values()))
        first.settle(deltas, self.feasible.size(deltas), success)

    @property
    def finished(self) -> bool:
        """Whether no image has a pixel left to win."""
        return not self._unfinished

    def start(self, random: bool, purpose: str = "start-0", *, radius: float | PerImage | None = None) -> Deltas:
        """Return zero, or draw from the ball by seed and image id only."""
        images, length = self.batch.images, self.threat.radius if radius is None else radius
        if not random:
            return torch.zeros_like(images)
        draw = uniform(images, self.batch.ids, self.seed, purpose)
        draw = draw if self.threat.norm == "linf" else self.feasible.steepest(draw)
        return self.feasible.project((per_image(length) if isinstance(length, Tensor) else length) * draw, length)

    def look(
        self,
        delta: Deltas,
        loss: str | Loss | None,
        progress: float = 0.0,
        *,
        radius: float | PerImage | None = None,
        track: str | Loss | None = None,
        resting: Bool[Tensor, " b"] | None = None,
        slope: bool = True,
    ) -> Look:
        """Run forward and backward at the delta, projected into `radius` (by default as far as a look goes)."""
        delta = self.feasible.project(delta, self.reach if radius is None else radius)
        resting_indices = set() if resting is None else set(resting.nonzero()[:, 0].tolist())
        indices = [index for index in self._unfinished if index not in resting_indices]
        if not indices:
            return self._nothing(delta)
        seen, views = self._see(
            select(self.feasible.apply(delta), indices).detach(), indices, loss, progress, track, slope
        )
        effect = cache(partial(self._effect, views, indices))
        if self.keep != "last":
            self._remember(delta, effect())
            views.clear()  # their logits need not outlive the look
        whole = len(self.batch)
        gradient, value, second = (spread(part, indices, whole) for part in seen)
        return Look(gradient, value, second, effect)

    def peek(
        self,
        delta: Deltas,
        loss: str | Loss | None = None,
        *,
        radius: float | PerImage | None = None,
        resting: Bool[Tensor, " b"] | None = None,
    ) -> Look:
        """Run forward only, without a gradient; the delta is remembered too."""
        return self.look(delta, loss, 1.0, radius=radius, resting=resting, slope=False)

    def _nothing(self, delta: Deltas) -> Look:
        none = delta.new_zeros(len(delta))
        return Look(
            torch.zeros_like(delta), loss=none, track=none, effect=lambda: Effect(none, none, none + 1, none == 0)
        )

    def _see(
        self,
        images: Float[Tensor, "n c h w"],
        indices: list[int],
        loss: str | Loss | None,
        progress: float,
        track: str | Loss | None,
        slope: bool,
    ) -> tuple[Seen, list[View]]:
        """Average as many passes as the model needs draws; return what each of them gave too.

        What a loss keeps for the next step is that of the first draw: the others ask copies, made before it."""
        images.requires_grad_(slope)
        seen, views = [], []
        self._looks += 1
        for losses_asked in [(loss, track), *(deepcopy((loss, track)) for _ in range(self.draws - 1))]:
            with torch.set_grad_enabled(slope):
                view = self._view(self.model(images), indices, progress)
                seen.append(read(view, images, *losses_asked))
            views.append(view)
        self.forwards[indices] += self.draws
        self.backwards[indices] += self.draws * slope
        return mean(seen), views

    def _view(self, logits: Float[Tensor, "n k h w"], indices: list[int], progress: float) -> View:
        labels, aim, balance = (select(part, indices) for part in (self.labels, self.aim, self.balance))
        check, recall = self._looks % 10 == 1, partial(self._recall, indices)
        view = View(logits, labels, aim, balance, progress, self.targeted, check=check, recall=recall)
        if self._first_distance is None:
            self._first_distance = spread(view.distance, indices, len(self.batch), fill=1.0)
        return replace(view, first_distance=select(self._first_distance, indices))

    def _recall(self, indices: list[int], won: Mask) -> Past:
        """Note what is won now; return what was won at the first look that asked, and at any since."""
        now = spread(won, indices, len(self.batch))
        first, once = (now, now) if self._past is None else self._past
        self._past = Past(first, once | now)
        return Past(*(select(part, indices) for part in self._past))

    def _effect(self, views: list[View], indices: list[int]) -> Effect:
        wanted = self.seeks == "damage" or bool(self._trackers)
        remaining, miou = mean([tally(view, miou=wanted) for view in views])
        whole, aimed = len(self.batch), select(self.aimed, indices)
        won = 1 - (remaining / aimed.clamp(min=1)).to(self.batch.images)
        return Effect(
            remaining=spread(remaining, indices, whole, fill=torch.inf),
            miou=spread(miou, indices, whole, fill=torch.inf),
            damage=spread(won, indices, whole, fill=1.0),
            success=spread(suffices(remaining, aimed, self.threat.enough), indices, whole, fill=True),
        )

    def _remember(self, delta: Deltas, effect: Effect) -> None:
        """Show the iterate to the trackers where it lies inside the threat's ball, and let finished images go."""
        size = self.feasible.size(delta)
        for smallest in self._smallest.values():
            smallest.show(effect.remaining, self.aimed, size, delta)
        if not self._trackers:
            return
        inside = size <= self.threat.radius * (1 + 1e-6)
        for goal, tracker in self._trackers.items():
            tracker.show(effect.miou if goal == "miou" else effect.remaining, delta, inside)
        first = next(iter(self._trackers.values()))
        if not self.targeted:
            self.history.note(self.forwards, first.score)
        if self.seeks == "damage":
            left = first.score > 0
            self._unfinished = [index for index in self._unfinished if left[index]]
