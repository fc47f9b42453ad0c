"""Public attacks by their own code, run in an environment of their own; bench/duel.py calls this file.

python peers.py PEER MODEL SCENE.npz OUT.npz EPS STEPS: reads images and labels, writes perturbed images and the cost.
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable
from unittest.mock import MagicMock

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from segstress import load_model

for unused in ("visdom", "torchvision", "torchvision.datasets", "torchvision.transforms", "torchvision.models"):
    sys.modules.setdefault(unused, MagicMock())  # imported by peers, not called here
GAMMA = chr(947)  # adv-lib names a step by the Greek letter
Run = Callable[[nn.Module, Tensor, Tensor, float, int], Tensor]


class Counted(nn.Module):
    """A model that counts the images it sees, and those that it is differentiated on."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model, self.forwards, self.backwards = model.eval(), 0, 0
        self.eval()

    def forward(self, images: Tensor) -> Tensor:
        """The logits."""
        self.forwards += len(images)
        self.backwards += len(images) * (images.requires_grad and torch.is_grad_enabled())
        return self.model(images)


def torchattacks_pgd(model: nn.Module, images: Tensor, labels: Tensor, eps: float, steps: int) -> Tensor:
    """torchattacks' PGD, its default ratio of step to radius."""
    import torchattacks

    return torchattacks.PGD(_placed(model), eps=eps, alpha=eps / 4, steps=steps)(images, labels)


def torchattacks_mifgsm(model: nn.Module, images: Tensor, labels: Tensor, eps: float, steps: int) -> Tensor:
    """torchattacks' MI-FGSM."""
    import torchattacks

    return torchattacks.MIFGSM(_placed(model), eps=eps, alpha=eps / 4, steps=steps)(images, labels)


def cospgd_cospgd(model: nn.Module, images: Tensor, labels: Tensor, eps: float, steps: int) -> Tensor:
    """CosPGD by the scale and the step of its authors' package."""
    from cospgd import functions

    def scaled(logits: Tensor, loss: Tensor, _: int) -> Tensor:
        return functions.cospgd_scale(logits, labels, loss, num_classes=logits.shape[1])

    return _climb(functions, scaled, model, images, labels, eps, steps)


def cospgd_segpgd(model: nn.Module, images: Tensor, labels: Tensor, eps: float, steps: int) -> Tensor:
    """SegPGD by the scale and the step of CosPGD's authors' package."""
    from cospgd import functions

    def scaled(logits: Tensor, loss: Tensor, step: int) -> Tensor:
        return functions.segpgd_scale(logits, labels, loss, step, steps)

    return _climb(functions, scaled, model, images, labels, eps, steps)


def advlib_alma_prox(model: nn.Module, images: Tensor, labels: Tensor, eps: float, steps: int) -> Tensor:
    """adv-lib's ALMA prox, clipped into the ball."""
    from adv_lib.attacks.segmentation import alma_prox

    found = alma_prox(model, images, labels, num_steps=steps)
    return _clipped(images, found, eps)


def advlib_dag(model: nn.Module, images: Tensor, labels: Tensor, eps: float, steps: int) -> Tensor:
    """adv-lib's DAG with the step of "Trying Harder", clipped into the ball."""
    from adv_lib.attacks.segmentation import dag

    found = dag(model, images, labels, max_iter=steps, **{GAMMA: 0.003})
    return _clipped(images, found, eps)


def _clipped(images: Tensor, found: Tensor, eps: float) -> Tensor:
    """Into ball and box, which rounding may leave."""
    return (images + (found - images).clamp(-eps, eps)).clamp(0, 1)


def _climb(
    functions: types.ModuleType,
    scaled: Callable[[Tensor, Tensor, int], Tensor],
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    eps: float,
    steps: int,
) -> Tensor:
    """The loop around the package's parts, as its own examples have it."""
    perturbed = functions.init_linf(images, eps, clamp_min=0, clamp_max=1)
    for step in range(steps):
        perturbed = perturbed.detach().requires_grad_()
        logits = model(perturbed)
        loss = scaled(logits, functional.cross_entropy(logits, labels, reduction="none"), step).mean()
        (gradient,) = torch.autograd.grad(loss, perturbed)
        perturbed = functions.step_inf(perturbed, eps, gradient, images, 2.5 * eps / steps, False, 0, 1, None)
    return perturbed


def _placed(model: nn.Module) -> nn.Module:
    """torchattacks looks for a parameter to learn the device."""
    model.anchor = nn.Parameter(torch.zeros(1), requires_grad=False)
    return model


PEERS: dict[str, Run] = {
    run.__name__: run
    for run in (
        torchattacks_pgd,
        torchattacks_mifgsm,
        cospgd_cospgd,
        cospgd_segpgd,
        advlib_alma_prox,
        advlib_dag,
    )
}


def main() -> None:
    """Run one peer."""
    peer, model, scene, out, eps, steps = sys.argv[1:]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with np.load(scene) as arrays:
        images, labels = (torch.from_numpy(arrays[name]) for name in ("images", "labels"))
    counted = Counted(load_model(model))
    started = time.process_time()
    found = PEERS[peer](counted, images, labels, float(eps), int(steps))
    seconds = time.process_time() - started
    np.savez(out, images=found.detach().numpy(), cost=[counted.forwards, counted.backwards, seconds])


if __name__ == "__main__":
    main()
