"""What a step of PGD-AT costs beyond its passes: CPU time beside as many bare forwards and backwards.

One thread; median over alternating pairs. Bare = k passes with respect to the images (parameters frozen, eval mode) and
one with respect to the parameters (train mode), each forward, summed cross-entropy and backward, on the same batch.
`python bench/training.py --pairs 15`
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from segstress.core import Batch
from segstress.fitting.plan import read_training_plan
from segstress.fitting.train import task_of
from segstress.training import Checkpoints, Loop

LIMIT = 1.10  # of the ratio


def bare(network: nn.Module, batch: Batch, inner: int) -> None:
    """The passes alone."""
    network.eval().requires_grad_(False)
    for _ in range(inner):
        images = batch.images.detach().requires_grad_()
        torch.autograd.grad(functional.cross_entropy(network(images), batch.labels, reduction="sum"), images)
    network.train().requires_grad_(True)
    functional.cross_entropy(network(batch.images), batch.labels, reduction="sum").backward()
    network.zero_grad()


def cpu_seconds(work: Callable[[], object]) -> float:
    """Time that the processor spends on it."""
    started = time.process_time()
    work()
    return time.process_time() - started


def overhead(model: str, steps: int, pairs: int, folder: Path) -> tuple[float, float]:
    """Median ratio, and milliseconds of the bare step."""
    attack = f"pgd?steps={steps}&eps=0.03&step=0.01&random_start=false&keep=last"
    changes = {"model": model, "data": "shapes:train?count=16", "recipe": "pgd-at", "share": 1.0, "attack": attack}
    task = task_of(read_training_plan(None, {**changes, "epochs": 10**6, "augmentation": {"crop": 64}}))
    loop = Loop(task, Checkpoints(folder, lambda path, data: None))
    (parts,) = task.train.steps(0, task.batch_size, 1)
    ratios, alone = [], []
    for _ in range(pairs + 1):  # the first pair warms up
        alone.append(cpu_seconds(lambda: bare(task.network, parts[0], steps)))
        ratios.append(cpu_seconds(lambda: loop.step(parts)) / alone[-1])
    return statistics.median(ratios[1:]), 1000 * statistics.median(alone[1:])


def main() -> None:
    """Print one line for each network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="compact:cnn,compact:transformer,compact:unet")
    parser.add_argument("--steps", type=int, default=3, help="of the inner attack")
    parser.add_argument("--pairs", type=int, default=15)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'model':<24}{'bare step':>12}{'ratio':>8}")
    for model in asked.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            ratio, milliseconds = overhead(model, asked.steps, asked.pairs, Path(folder))
        verdict = "" if ratio <= LIMIT else "  above the limit"
        print(f"{model:<24}{milliseconds:>9.1f} ms{ratio:>8.2f}{verdict}", flush=True)


if __name__ == "__main__":
    main()
