"""Minimal attacks beside adv-lib 0.2.8 at equal steps, and beside bare passes of the model.

Needs adv-lib only for the first table: in an environment of its own, `pip install --no-deps adv-lib` and empty stubs
for torchvision and visdom, which it imports and does not use here. TORCHDYNAMO_DISABLE=1 spares a minute of compiling.
Example: python bench/minimal.py --model compact:cnn-normal --data shapes:test --images 6 --steps 200
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from segstress.attacks import Attack, attacks
from segstress.core import Batch, Threat
from segstress.data import load as load_data
from segstress.jobs.judge import stack
from segstress.models import load as load_model

GAMMA = chr(947)  # adv-lib names its step by the Greek letter
Figures = tuple[float, float, float]  # linf size x 255 (255 for a failure), share won, CPU seconds


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="compact:cnn-normal")
    parser.add_argument("--data", default="shapes:test")
    parser.add_argument("--images", type=int, default=6)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5, help="alternating pairs for the overhead")
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, data = load_model(given.model), load_data(given.data)
    batches = [stack([data.read(id_)]) for id_ in data.ids()[: given.images]]
    compare(model, batches, given.steps)
    overhead(given.rounds)


def compare(model: nn.Module, batches: Sequence[Batch], steps: int) -> None:
    """Median size, unsuccessful images and CPU time of ours and theirs."""
    ours = {name: partial(our, {"kind": name, "steps": steps}) for name in ("alma-prox", "pdpgd", "dag", "fmn", "ddn")}
    rows = {f"ours {name}": attack for name, attack in ours.items()} | theirs(steps)
    print(f"{'attack':22} {'median':>8} {'mean':>8} {'failed':>6} {'CPU s':>7}   sizes in 1/255, a failure counts 255")
    for name, attack in rows.items():
        found = [measure(model, batch, attack) for batch in batches]
        sizes = [size if won >= 0.99 else 255.0 for size, won, _ in found]
        failed, seconds = sum(won < 0.99 for _, won, _ in found), statistics.median(each[2] for each in found)
        print(f"{name:22} {statistics.median(sizes):8.3f} {statistics.mean(sizes):8.3f} {failed:6} {seconds:7.2f}")


def measure(model: nn.Module, batch: Batch, attack: Callable[[nn.Module, Batch], Tensor]) -> Figures:
    """One image, judged by a fresh forward pass."""
    started = time.process_time()
    images = attack(model, batch)
    seconds = time.process_time() - started
    with torch.no_grad():
        wrong = (model(images).argmax(1) != batch.labels) & batch.valid
    return 255 * float((images - batch.images).abs().max()), float(wrong.sum() / batch.valid.sum()), seconds


def our(spec: dict[str, object], model: nn.Module, batch: Batch) -> Tensor:
    """Ours, polish included."""
    return Attack(algorithm=attacks.build(spec), threat=Threat()).perturb(model, batch, 0).results[0].images


def theirs(steps: int) -> dict[str, Callable[[nn.Module, Batch], Tensor]]:
    """adv-lib's, with the settings of the paper; none where it is not installed."""
    try:
        from adv_lib.attacks.segmentation import alma_prox, dag, pdpgd
    except ImportError:
        print("adv-lib is not installed: ours only")
        return {}

    def run(attack: Callable[..., Tensor], model: nn.Module, batch: Batch, **settings: object) -> Tensor:
        return attack(model, batch.images, batch.labels, masks=batch.valid, **settings)

    return {
        "adv-lib alma-prox": partial(run, partial(alma_prox, num_steps=steps)),
        "adv-lib pdpgd": partial(run, partial(pdpgd, norm=math.inf, num_steps=steps, primal_lr=0.01)),
        "adv-lib dag 0.003": partial(run, partial(dag, max_iter=steps, **{GAMMA: 0.003})),
    }


def overhead(rounds: int, steps: int = 4) -> None:
    """CPU time over that of bare forwards and backwards, at 360 x 480 with 11 classes; the median of pairs."""
    model = load_model("compact:cnn-normal")
    images = torch.rand(1, 3, 360, 480, generator=torch.Generator().manual_seed(0))
    labels = model(images).argmax(1)
    batch = Batch(("one",), images, labels, torch.ones_like(labels, dtype=torch.bool))
    print(f"\n{'attack':12} {'CPU time over bare passes':>26}")
    for name in ("alma-prox", "pdpgd", "fmn", "ddn"):
        attack = Attack(algorithm=attacks.build({"kind": name, "steps": steps}), threat=Threat())
        ratios = []
        for _ in range(rounds):
            started = time.process_time()
            perturbed = attack.perturb(model, batch, 0)
            middle = time.process_time()
            bare(model, batch, int(perturbed.forwards), int(perturbed.backwards))
            ratios.append((middle - started) / (time.process_time() - middle))
        print(f"{name:12} {statistics.median(ratios):26.3f}")


def bare(model: nn.Module, batch: Batch, forwards: int, backwards: int) -> None:
    """The same passes without an attack."""
    for number in range(forwards):
        images = batch.images.clone().requires_grad_(number < backwards)
        with torch.set_grad_enabled(number < backwards):
            loss = functional.cross_entropy(model(images), batch.labels, reduction="sum")
        if number < backwards:
            torch.autograd.grad(loss, images)


if __name__ == "__main__":
    main()
