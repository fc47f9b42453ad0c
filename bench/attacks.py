"""What an attack costs beyond its forward and backward passes: CPU time beside bare passes of the same model.

One thread; median over alternating pairs; bare = as many forwards and backwards of the model and summed cross-entropy
with respect to the image, parameters frozen.
`python bench/attacks.py --sides 128,256 --attacks pgd,progressive-jsd [--steps 6]`
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from networks import NETWORKS, load
from torch import nn
from torch.nn import functional

from segstress.attacks import Attack, attacks
from segstress.core import Batch, Threat

LIMITS = {128: 1.20}  # of the ratio; 1.10 at larger sides


def scene(model: nn.Module, side: int) -> Batch:
    """Noise, labelled as the model sees it, with one label in four wrong and a void border."""
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(1, 3, side, side, generator=generator)
    with torch.no_grad():
        logits = model(images)
    wrong = torch.rand(1, side, side, generator=generator) < 0.25
    labels = torch.where(wrong, 0, logits.argmax(1))
    valid = torch.ones_like(labels, dtype=torch.bool)
    valid[:, :4] = False
    return Batch(ids=("noise",), images=images, labels=labels.masked_fill(~valid, 0), valid=valid)


def bare(model: nn.Module, batch: Batch, forwards: int, backwards: int) -> None:
    """The passes alone."""
    for step in range(forwards):
        with torch.set_grad_enabled(step < backwards):
            images = batch.images.detach().requires_grad_(step < backwards)
            loss = functional.cross_entropy(model(images), batch.labels, reduction="sum")
            if step < backwards:
                torch.autograd.grad(loss, images)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Time that the processor spends on it."""
    started = time.process_time()
    work()
    return time.process_time() - started


def overhead(name: str, model: nn.Module, batch: Batch, pairs: int, most: int) -> tuple[float, float]:
    """Median ratio, and milliseconds of one bare pass."""
    steps = {"steps": most} if attacks.build(name).passes()[0] > most else {}
    attack = Attack(algorithm=attacks.build({"kind": name, **steps}), threat=Threat(radius="4/255"))
    cost = attack.perturb(model, batch, 0)
    forwards, backwards = int(cost.forwards), int(cost.backwards)
    ratios, alone = [], []
    for _ in range(pairs):
        ours = cpu_seconds(lambda: attack.perturb(model, batch, 0))
        alone.append(cpu_seconds(lambda: bare(model, batch, forwards, backwards)))
        ratios.append(ours / alone[-1])
    return statistics.median(ratios), 1000 * statistics.median(alone) / forwards


def main() -> None:
    """Print one line for each attack and side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", choices=sorted(NETWORKS), default="enet")
    parser.add_argument("--weights", type=Path, help="folder with <network>.pth; random weights by default")
    parser.add_argument("--sides", default="128,256")
    parser.add_argument("--attacks", default=",".join(name for name in attacks.names() if name != "transfer"))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--steps", type=int, default=6, help="at most; more share what is done once an attack")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model = load(asked.network, asked.weights)
    print(f"{'attack':<16}{'side':>6}{'bare pass':>12}{'ratio':>8}")
    for side in map(int, asked.sides.split(",")):
        batch = scene(model, side)
        for name in asked.attacks.split(","):
            ratio, milliseconds = overhead(name, model, batch, asked.pairs, asked.steps)
            verdict = "" if ratio <= LIMITS.get(side, 1.10) else "  above the limit"
            print(f"{name:<16}{side:>6}{milliseconds:>9.1f} ms{ratio:>8.2f}{verdict}", flush=True)


if __name__ == "__main__":
    main()
