"""Adam's running means (Kingma & Ba 2015, arXiv:1412.6980), shared by the attacks that step by them."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from .feasible import Deltas


class Moments:
    """The running mean of a gradient, and the root of that of its square; both are free of their start at zero."""

    def __init__(self, like: Deltas, *, floor: float = 1e-8, amsgrad: bool = False) -> None:
        self._mean, self._square = torch.zeros_like(like), torch.zeros_like(like)
        self._largest = torch.zeros_like(like) if amsgrad else self._square  # AMSGrad never forgets (arXiv:1904.09237)
        self.metric, self._floor, self._step = torch.zeros_like(like), floor, 0  # what Adam divides by

    def update(self, gradient: Deltas) -> None:
        """Take one more gradient in."""
        self._step += 1
        self._mean.lerp_(gradient, 0.1)
        self._square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        if self._largest is not self._square:
            torch.maximum(self._largest, self._square, out=self._largest)
        self.metric = (self._largest / (1 - 0.999**self._step)).sqrt_().add_(self._floor)

    def climb(self, rate: float | Float[Tensor, "b 1 1 1"]) -> Deltas:
        """Return Adam's step uphill."""
        return (rate / (1 - 0.9**self._step)) * self._mean / self.metric
