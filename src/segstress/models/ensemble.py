"""Several models that answer together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from ..core import BadInput, settings
from .model import Model, load, models, readable


@models.register("ensemble")
@settings
class Ensemble(Model):
    """The weighted mean of several models' probabilities: `ensemble?members=compact:a,compact:b&shares=0.3,0.7`."""

    members: Annotated[tuple[Annotated[Model, *models.field()], ...], Field(min_length=2)]
    shares: tuple[Annotated[float, Field(ge=0, le=1)], ...]  # one for each member, together 1

    @model_validator(mode="after")
    def _check_shares(self) -> Ensemble:
        if len(self.shares) != len(self.members) or abs(sum(self.shares) - 1) > 1e-6:
            raise BadInput(f"shares: expected {len(self.members)} that sum to 1, found {self.shares}")
        return self

    @property
    def label(self) -> str:
        """Every member with its share."""
        pairs = zip(self.shares, self.members, strict=True)
        return readable("+".join(f"{share:g}-{member.label}" for share, member in pairs))

    def network(self) -> nn.Module:
        """Load and mix the members; one without a share is not even loaded."""
        pairs = [(member, share) for member, share in zip(self.members, self.shares, strict=True) if share > 0]
        return Mixture([load(member) for member, _ in pairs], [share for _, share in pairs])

    def sources(self) -> tuple[Path, ...]:
        """Return the code of every member."""
        return tuple(path for member in self.members for path in member.files())


class Mixture(nn.Module):
    """Logarithm of a weighted sum of softmaxes, without leaving the logarithm, at the level of the members' logits."""

    def __init__(self, members: Sequence[nn.Module], shares: Sequence[float]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.shares = tuple(shares)

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Return logits whose softmax is the weighted mean of the members'; of one member, its own."""
        answers: list[Tensor] = [member(images) for member in self.members]
        classes = {answer.shape[1] for answer in answers}
        if len(classes) > 1:
            raise BadInput(f"ensemble: expected members with the same classes, found {sorted(classes)}")
        levels = [answer.logsumexp(1, keepdim=True) for answer in answers]  # over which softmax is silent
        level = sum(share * own for share, own in zip(self.shares, levels, strict=True))
        weighted = [
            answer + (level - own + math.log(share))
            for answer, own, share in zip(answers, levels, self.shares, strict=True)
        ]
        return reduce(torch.logaddexp, weighted)
