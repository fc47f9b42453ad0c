"""The dual player of PDPGD and PDGD: how much each pixel's margin weighs against the norm."""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Bool
from torch import Tensor
from torch.nn import functional

from ..losses import Pixels, View, losses
from ..search.feasible import PerImage
from ..search.problem import Problem
from .masking import Masking, spare


class Duals:
    """Weights on the simplex of all pixels and the norm, moved by the sign of each margin (arXiv:2106.01538)."""

    def __init__(
        self,
        problem: Problem,
        steps: int,
        norm_weight: Literal["ratio", "share"] = "ratio",
        least: float = 1e-12,
        masking: Masking = "unlabelled",
    ) -> None:
        self.aim, self.steps, self.step = problem.aim, steps, 0
        self.masking, self.enough = masking, problem.threat.enough
        self._over_pixels, self._limit = norm_weight == "ratio", -math.log(least)
        equal = -problem.aimed.clamp(min=1).to(problem.balance).log()
        self.logs = equal[:, None, None].expand_as(problem.balance)  # the norm's own log-weight is zero
        self.weights = self._simplex(self.aim)
        self.bids = self.weights  # of the pixels that are counted at this step

    def at(self, step: int) -> Duals:
        """Make ready for one step."""
        self.step = step
        return self

    @property
    def norm_weight(self) -> PerImage:
        """What is left for the norm (equation 26 of arXiv:2206.07179); or that over what the pixels weigh together."""
        pixels = self.bids.flatten(1).sum(1)
        left = (1 - pixels).clamp(min=0)
        return left / pixels.clamp(min=torch.finfo(pixels.dtype).tiny) if self._over_pixels else left

    def __call__(self, view: View) -> Pixels:
        """Return the weighted loss of every margin; then pixels that stand bid more, and those that are won less."""
        lead = (1 if view.targeted else -1) * losses.get("margin")(view)
        left = (self.steps - 1 - self.step) / max(self.steps - 1, 1)
        elapsed = self.step / max(self.steps - 1, 1)
        counted = spare(lead.detach(), self.aim, self.masking, self.enough, elapsed)
        if self.step > 0:
            self.weights = self.weights.lerp(self._simplex(counted), 0.1)
        self.bids = self.weights * counted
        bid = 0.1 * (0.9 * left + 0.1) * lead.detach().sign() * counted
        self.logs = (self.logs + bid).clamp(-self._limit, self._limit)
        return -self.bids * functional.softplus(lead)

    def _simplex(self, counted: Bool[Tensor, "b h w"]) -> Pixels:
        raw = self.logs.exp() * counted
        return raw / (1 + raw.flatten(1).sum(1))[:, None, None]
