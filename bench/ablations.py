"""What each part of the annealed attack is worth: its temperature path, form, scale and steps, one changed at a time.

Command: python bench/ablations.py [--models ...] [--images 8] [--steps 100] [--data shapes:val]. Prints accuracy and
NmIoU of every model, linf 8/255; the first line is the attack as it is.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import torch

import segstress
from segstress.attacks import Attack, View, attacks, losses
from segstress.attacks.algorithms.momentum import Momentum
from segstress.attacks.losses import Loss
from segstress.attacks.losses.annealed import FIRST, LAST, expected_error
from segstress.core import Batch, Threat
from segstress.data import load as load_data
from segstress.data import stack
from segstress.metrics.counts import count, predict
from segstress.metrics.scores import image_accuracy, image_miou

PATHS = {"1 to 30": (1, 30), "1 to 3000": (1, 3000), "0.1 to 300": (0.1, 300), "10 to 300": (10, 300)}
CONSTANT = (1, 10, 100)  # sharpness that does not change


def path(first: float, last: float) -> Loss:
    """The annealed error between other temperatures."""
    return lambda view: expected_error(view, first, last)


def linear(view: View) -> torch.Tensor:
    """The same ends, in equal differences."""
    now = FIRST + (LAST - FIRST) * view.progress
    return expected_error(view, now, now)


def absolute(factor: float) -> Loss:
    """The annealed error in logits, not in mean margins of the clean image: of a network this much louder."""

    def louder(view: View) -> torch.Tensor:
        one = torch.ones(len(view.logits), dtype=view.logits.dtype, device=view.logits.device)
        return expected_error(replace(view, logits=factor * view.logits, first_distance=one), FIRST, LAST)

    return louder


def variants(steps: int) -> dict[str, Any]:
    """Every attack by what is changed in it."""
    known = {f"path {name}": path(*ends) for name, ends in PATHS.items()}
    known |= {f"constant {value}": path(value, value) for value in CONSTANT}
    known |= {"path 1 to 300, linear": linear}
    known |= {f"in logits, times {factor:g}": absolute(factor) for factor in (0.1, 1, 10)}
    for name, loss in known.items():
        losses.register(name)(loss)
    changes: dict[str, dict[str, Any]] = {"as it is": {}}
    changes |= {name: {"loss": name} for name in (*known, "annealed-ramp", "ce")}
    changes |= {f"first step {radii:g} radii": {"longest": radii} for radii in (0.5, 1, 2, 8)}
    changes |= {f"memory {share:g}": {"memory": share} for share in (0, 0.75, 0.9)}
    adam = attacks.build({"kind": "padam", "loss": "annealed-error", "rate": "4/255", "steps": steps})
    return {name: Momentum(steps=steps, **change) for name, change in changes.items()} | {"projected Adam": adam}


def main() -> None:
    """Print a line for every variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="cnn-pgd-at-100,transformer-pgd-at-100")
    parser.add_argument("--data", default="shapes:val")
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--steps", type=int, default=100)
    given = parser.parse_args()
    torch.set_num_threads(1)
    source = load_data(f"{given.data}?count={given.images}")
    batch = stack([source.read(id_) for id_ in source.ids()])
    networks = [segstress.load_model(f"compact:{name}") for name in given.models.split(",")]
    print(f"{given.images} images of {given.data}, linf 8/255, {given.steps} steps: {given.models}")
    for name, algorithm in variants(given.steps).items():
        line = [figures(network, batch, algorithm) for network in networks]
        print(f"{name:28}" + "   ".join(f"{accuracy:6.2f} / {miou:5.2f}" for accuracy, miou in line), flush=True)


@torch.no_grad()
def figures(model: torch.nn.Module, batch: Batch, algorithm: Any) -> tuple[float, float]:
    """Mean accuracy and mIoU of the images, each under the iterate that is worst for it, in percent."""
    found = Attack(algorithm=algorithm, threat=Threat(radius=8 / 255)).perturb(model, batch, 0).results
    logits = {result.goal: model(result.images) for result in found}
    counts = {goal: count(predict(of), batch.labels, batch.valid, of.shape[1]) for goal, of in logits.items()}
    scores = image_accuracy(counts["accuracy"]), image_miou(counts["miou"])
    return tuple(100 * float(score.mean()) for score in scores)  # type: ignore[return-value]


if __name__ == "__main__":
    main()
