"""What folding BatchNorm into convolutions saves of a search, and whether the original model believes what it finds.

CPU time of a pass of the model over that of its folded twin; one thread, median over alternating pairs.
Example: python bench/fold.py --network enet --size 360x480 --pairs 15
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import torch
from networks import NETWORKS, load
from torch import nn

from segstress.attacks import Attack, attacks
from segstress.core import Batch, Threat
from segstress.data import load as load_data
from segstress.data import readable
from segstress.models.folding import fold


def scene(model: nn.Module, data: str | None, height: int, width: int) -> Batch:
    """The first image of a dataset, or noise, labelled as the model sees it."""
    if data is None:
        images = torch.rand(1, 3, height, width, generator=torch.Generator().manual_seed(0))
    else:
        source = load_data(data)
        images = next(readable(source, source.ids())).image[None]
    labels = model(images).argmax(1)
    return Batch(("noise",), images, labels, torch.ones_like(labels, dtype=torch.bool))


def look(model: nn.Module, batch: Batch) -> float:
    """CPU seconds of one forward and backward pass."""
    started = time.process_time()
    images = batch.images.clone().requires_grad_()
    torch.autograd.grad(nn.functional.cross_entropy(model(images), batch.labels, reduction="sum"), images)
    return time.process_time() - started


def search(attack: Attack, model: nn.Module, judge: nn.Module, batch: Batch) -> str:
    """What an attack on one model is worth on another, and its CPU time."""
    started = time.process_time()
    result = attack.perturb(model, batch, 0).results[0]
    seconds = time.process_time() - started
    won = (judge(result.images).argmax(1) != batch.labels).float().mean()
    return f"{255 * float(result.size):.3f}/255, {float(won):.4f} of the pixels, {seconds:.1f} s"


def main() -> None:
    """Print the ratio, and what an attack finds with and without folding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", choices=sorted(NETWORKS), default="enet")
    parser.add_argument("--weights", type=Path, help="folder with <network>.pth; random weights by default")
    parser.add_argument("--data", help="dataset whose first image is looked at; noise by default")
    parser.add_argument("--size", default="360x480", help="of the noise, height x width")
    parser.add_argument("--attack", default="alma-prox-auto")
    parser.add_argument("--steps", type=int, default=100, help="of the attack; 0 = none")
    parser.add_argument("--pairs", type=int, default=15)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model = load(asked.network, asked.weights)
    batch = scene(model, asked.data, *map(int, asked.size.split("x")))
    found = fold(model, batch.images)
    size = "x".join(map(str, batch.labels.shape[1:]))
    print(f"{asked.network} {size}: {found.layers} layers folded, logits apart by {found.apart:.1e}")
    ratios = [look(model, batch) / look(found.model, batch) for _ in range(asked.pairs)]
    print(
        f"one forward and backward: {statistics.median(ratios):.2f} times faster (pairs from {min(ratios):.2f} to"
        f" {max(ratios):.2f})"
    )
    if asked.steps:
        attack = Attack(algorithm=attacks.build({"kind": asked.attack, "steps": asked.steps}), threat=Threat())
        print(f"{asked.attack}, {asked.steps} steps, judged by the model: {search(attack, model, model, batch)}")
        print(f"the same on the folded twin: {search(attack, found.model, model, batch)}")


if __name__ == "__main__":
    main()
