"""The 0/1 loss of a search for smallness: as sharp as the pixel that decides allows, each pixel at its easiest rival.

Ours, of the family of `losses/annealed.py`. A search that needs 99 % of the pixels succeeds when the hardest pixel but
1 % falls. Its distance is the temperature: softer, and pixels long won or out of reach pull; sharper, and the pixels
that are still needed have no slope. The loss does not know the number of steps, so the ball may move.
"""

from __future__ import annotations

from functools import partial

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from ...core.shares import parts
from ..losses import Pixels, View
from ..losses.annealed import error_at
from ..search.feasible import PerImage, per_image
from ..search.problem import Problem

SHARPEST = 100.0  # in one over the clean image's mean margin


class DecidingError:
    """The expected number of errors at the temperature of the pixel that decides; minus it towards a goal."""

    def __init__(self, enough: float) -> None:
        self.enough = enough
        self.classes = 0  # known after the first look
        self.rivals: Int64[Tensor, "b h w"] | None = None  # what remaining pixels aim at; none = any other class

    def __call__(self, view: View) -> Pixels:
        """Return one minus the sharpened probability of the label, where a pixel stands against its rival alone."""
        self.classes = view.logits.shape[1]
        side = -1 if view.targeted else 1
        deciding = deciding_distance(side * _lead_of_label(view), view.aim, self.enough)[:, None, None]
        sharpness = 1 / deciding.maximum(view.unit / SHARPEST)
        error = error_at(view, sharpness)
        if self.rivals is None:
            return side * error
        rival, label = view.of(self.rivals, view.labels)
        return torch.where(view.remaining, (sharpness * (rival - label)).sigmoid(), error)


@torch.no_grad()
def _lead_of_label(view: View) -> Pixels:
    """Return the lead over the best other class; its value alone, for which a CPU need not look which class it is."""
    labels = view.labels[:, None]
    return (view.logits.gather(1, labels) - view.logits.scatter(1, labels, -torch.inf).amax(1, keepdim=True))[:, 0]


def deciding_distance(distance: Pixels, aim: Bool[Tensor, "b h w"], enough: float) -> PerImage:
    """Return that of the hardest pixel to be won if a share `enough` of the aim must be; -inf where there is none."""
    taken, whole = parts(enough)
    left = whole - taken  # that may stand
    flat = torch.where(aim, distance, -torch.inf).flatten(1)
    spared = aim.flatten(1).sum(1) * left // whole
    most = min(flat.shape[1] * left // whole + 1, flat.shape[1])
    return flat.topk(most, dim=1).values.gather(1, spared.clamp(max=most - 1)[:, None])[:, 0]


def easiest_rivals(problem: Problem, radius: Float[Tensor, " b"], classes: int) -> Int64[Tensor, "b h w"]:
    """Find the class that every pixel reaches first: the clean gap over what it gains if all pixels go there at once.

    Two looks a class, in which the gain is measured at the radius and not by the slope, which bends before it."""
    allowed, clean, distances = problem.feasible, problem.start(False), []
    for rival in range(classes):
        leads: list[Pixels] = []
        lead = partial(_lead, rival, leads)
        uphill = allowed.steepest(problem.look(clean, lead).gradient)
        problem.peek(per_image(radius) * uphill, lead, radius=radius)
        gap, gain = -leads[0], leads[-1] - leads[0]
        way = gap.clamp(min=0) / gain.clamp(min=1e-12)
        distances.append(torch.where(problem.labels == rival, torch.inf, way))
    return torch.stack(distances, 1).argmin(1)


def _lead(rival: int, leads: list[Pixels], view: View) -> Pixels:
    """Measure how far a class is ahead of the label, and note it."""
    (label,) = view.of(view.labels)
    lead = view.logits[:, rival] - label
    leads.append(lead.detach())
    return lead
