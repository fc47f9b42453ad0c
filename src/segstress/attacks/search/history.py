"""How an attack got on: the pixels that still stand after so many passes, image by image."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int64
from torch import Tensor


class History:
    """The lowest score after every look; nothing is read back from the device until the attack is over."""

    def __init__(self) -> None:
        self._forwards: list[Tensor] = []
        self._scores: list[Tensor] = []

    def note(self, forwards: Int64[Tensor, " b"], score: Float[Tensor, " b"]) -> None:
        """Add what is known after one more look; a tracker makes new scores and never changes old ones."""
        self._forwards.append(forwards.clone())
        self._scores.append(score)

    def traces(self) -> tuple[dict[int, int], ...]:
        """Return for each image forwards -> pixels remaining, at round numbers of forwards and at its last."""
        if not self._scores:
            return ()
        forwards, scores = torch.stack(self._forwards, dim=1), torch.stack(self._scores, dim=1).cpu()
        return tuple(_trace(*image) for image in zip(forwards, scores, strict=True))


def _trace(forwards: Int64[Tensor, " looks"], scores: Float[Tensor, " looks"]) -> dict[int, int]:
    last = int(forwards[-1])
    passes = [*_round_numbers(last), last]
    looks = torch.searchsorted(forwards, torch.tensor(passes), right=True) - 1
    kept = scores[looks.clamp(min=0)]  # with several draws the first look costs more than one pass
    return dict(zip(passes, kept.round().long().tolist(), strict=True))


def _round_numbers(below: int) -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= below:
                return
            yield factor * power
        power *= 10
