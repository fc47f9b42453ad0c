"""DDC-AT: clean but fragile pixels get a branch of their own, so that they do not pull at the main one."""

from __future__ import annotations

from typing import Annotated, Any

import torch
from jaxtyping import Float, Int64
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from ..core import Batch, settings
from ..metrics import predict
from .recipes import PGD, Harm, Losses, Make, Share, cross_entropy, hits, mix, perturbed_indices, recipes
from .trainee import Trainee, bare

BRANCHES = ("main", "fragile", "mask")


class Branched(Trainee):
    """A network with outputs for three branches on shared features: main, fragile and the mask between them.

    A head of its own that supervises features early on stays what it is, with the first outputs for the classes.
    """

    def __init__(self, network: nn.Module, kept: nn.Module, classes: int) -> None:
        super().__init__(network)
        self.classes = classes
        self._kept = [kept]  # in a list, so that its weights are no part of the state
        trained = network.state_dict()
        for name, tensor in kept.state_dict().items():
            _first_rows(trained[name], tensor).copy_(tensor)

    def forward(self, images: Float[Tensor, "b c h w"]) -> Float[Tensor, "b k h w"]:
        """Return the logits of the main branch."""
        return self.heads(images)["main"]

    def heads(self, images: Float[Tensor, "b c h w"]) -> dict[str, Tensor]:
        """Return the logits of each branch."""
        own = super().heads(images)
        main, fragile, mask = torch.split(own.pop("main"), [self.classes, self.classes, 2], dim=1)
        early = {name: logits[:, : self.classes] for name, logits in own.items()}
        return {"main": main, "fragile": fragile, "mask": mask, **early}

    def result(self) -> nn.Module:
        """Return the network without the other branches."""
        (kept,) = self._kept
        trained = self.network.state_dict()
        for name, tensor in kept.state_dict().items():
            tensor.copy_(_first_rows(trained[name], tensor))
        return bare(kept)


@recipes.register("ddc-at")
@settings
class DDC:
    """Dynamic divide and conquer (Xu et al. 2021, arXiv:2003.06555); only the main branch is used afterwards."""

    attack: str | dict[str, Any] = PGD  # any attack by name
    auxiliary: Annotated[float, Field(ge=0)] = 0.4  # weight of every further head that the network has
    share: Share = 0.5  # of images that are trained on attacked; the others are attacked to find their fragile pixels

    def trainee(self, make: Make, classes: int) -> Trainee:
        """Give outputs for all branches while training, for the main one afterwards."""
        return Branched(make(2 * classes + 2), make(classes), classes)

    def loss(self, network: Trainee, batch: Batch, first: int, harm: Harm) -> Losses:
        """Return cross-entropy of the branches joined by the mask, and of the mask itself."""
        harmed = harm(batch)
        fragile = join_prediction(network, harmed.images) != join_prediction(network, batch.images)
        indices = perturbed_indices(len(batch), first, self.share)
        fragile[indices] = False  # attacked pixels belong to the main branch, all of them
        mixed = mix(batch, indices, lambda part: harmed.pick(indices))
        network.train()
        heads = network.heads(mixed.images)
        joined = join(heads)
        valid = cross_entropy(joined, mixed)
        for logits in (logits for name, logits in heads.items() if name not in BRANCHES):
            valid = valid + self.auxiliary * cross_entropy(logits, mixed)
        mask = functional.cross_entropy(heads["mask"].float(), fragile.long(), reduction="sum")
        return Losses(valid=valid, every=mask, hits=hits(joined, mixed))


def join(heads: dict[str, Tensor]) -> Float[Tensor, "b k h w"]:
    """Return each pixel's logits from the branch that the mask points to; no gradient reaches the mask this way."""
    stable, fragile = heads["mask"].detach().unbind(1)
    return torch.where((fragile > stable)[:, None], heads["fragile"], heads["main"])


@torch.no_grad()
def join_prediction(network: Trainee, images: Float[Tensor, "b c h w"]) -> Int64[Tensor, "b h w"]:
    """Return the classes by the joined branches, as the network would be used."""
    network.eval()
    return predict(join(network.heads(images)))


def _first_rows(tensor: Tensor, like: Tensor) -> Tensor:
    """Return the part of a tensor that the main branch shares or owns: its outputs come first."""
    return tensor[: len(like)] if like.ndim else tensor
