"""What an augmented Lagrangian asks of every pixel: a constraint that is negative once it is won, and its price."""

from __future__ import annotations

import torch

from ..losses import Pixels, View, losses
from ..losses.logits import ratio_of_logits


def logit_ratio(view: View, *, differentiated: bool = False, tolerance: float = 0.0) -> Pixels:
    """Measure how far a pixel is from being won, in units of the logits' spread (DLR+ of arXiv:2206.07179).

    The unit is a constant: the published code follows its slope too (`differentiated`), which can lead away from the
    nearest border. Its tolerance is added to the label's lead, whatever the side. Two classes have no third to take the
    spread from, so the image's mean distance is the unit; in the published code's reading it is one logit."""
    side = 1 if view.targeted else -1
    if differentiated:
        return side * ratio_of_logits(view, tolerance)
    distance = side * (losses.get("margin")(view) - tolerance)
    if view.logits.shape[1] == 2:
        total = (distance.detach().abs() * view.aim).flatten(1).sum(1)
        unit = (total / view.aim.flatten(1).sum(1).clamp(min=1))[:, None, None]
    else:
        unit = _lead_over_third(view)
    return distance / torch.where(unit > 0, unit, 1)  # equal logits, or an image all void, have none


def _lead_over_third(view: View) -> Pixels:
    """Measure how far the largest logit is above the third, towards a goal above the mean of third and fourth.

    On a CPU a running sort of the few largest is much faster than `topk`."""
    largest: list[Pixels] = []
    for plane in view.logits.detach().unbind(1):
        for rank, larger in enumerate(largest):
            largest[rank], plane = torch.maximum(larger, plane), torch.minimum(larger, plane)
        if len(largest) < (4 if view.targeted else 3):
            largest.append(plane)
    return largest[0] - torch.stack(largest[2:]).mean(0)


def penalty_slope(constraint: Pixels, strength: Pixels, multiplier: Pixels, *, released: bool = False) -> Pixels:
    """Differentiate the penalty m c + m s c^2 + s^2 c^3 / 6 above zero, m c / (1 - max(s, 1) c) below.

    The published code has m c instead of m as the first term above zero (`released`), so that pixels that are hardly
    remaining are hardly pushed."""
    c, s, m = constraint, strength, multiplier
    above = (m * c if released else m) + 2 * m * s * c + s.square() * c.square() / 2
    below = m / (1 - s.clamp(min=1) * c).square()
    return torch.where(c >= 0, above, below)
