"""Which pixels a search for smallness need not win: the masks of arXiv:2206.07179."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool
from torch import Tensor

from ..losses import Pixels

Masking = Literal["unlabelled", "hardest", "decaying"]  # the paper's m, m~ and m~(t)


def spare(
    constraint: Pixels, aim: Bool[Tensor, "b h w"], masking: Masking, enough: float, progress: float
) -> Bool[Tensor, "b h w"]:
    """Return the aim without the hardest pixels, of which `1 - enough` may stand: none, all or more and more."""
    elapsed = {"unlabelled": 0.0, "hardest": 1.0, "decaying": progress}
    return spare_hardest(constraint, aim, (1 - enough) * elapsed[masking])


def spare_hardest(constraint: Pixels, aim: Bool[Tensor, "b h w"], share: float) -> Bool[Tensor, "b h w"]:
    """Return the aim without that share of each image's pixels, those farthest from being won; ties are kept."""
    flat = torch.where(aim, constraint, -torch.inf).flatten(1)
    largest = flat.topk(max(int(share * flat.shape[1]), 1), dim=1).values
    spared = (share * aim.flatten(1).sum(1).double()).long()
    last = largest.gather(1, (spared - 1).clamp(min=0)[:, None])[:, 0]
    limit = torch.where(spared > 0, last, torch.inf)
    return aim & (constraint <= limit[:, None, None])
