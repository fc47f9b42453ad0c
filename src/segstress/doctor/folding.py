"""Does folding BatchNorm into convolutions, where it is asked for, come to anything?"""

from __future__ import annotations

from torch import Tensor, nn

from ..models.folding import LIMIT, fold
from .flag import Flag


def judge_folding(model: nn.Module, images: Tensor) -> list[Flag]:
    """Raise a flag where the search will run on the model as it is."""
    folded = fold(model, images)
    if folded.layers:
        return []
    apart = f"its logits differ by {folded.apart:.2g}, more than {LIMIT:g}" if folded.apart else "no layers could be"
    return [
        Flag(
            "not-folded",
            f"BatchNorm is not folded for the search: {apart}",
            "the search takes as long as without --fold, and finds the same",
            "leave --fold out",
        )
    ]
