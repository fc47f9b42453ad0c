"""Minimal attacks beside adv-lib 0.2.8 at equal forward passes, and beside bare passes of the model.

Needs adv-lib only for the first table: in an environment of its own, `pip install --no-deps adv-lib` and empty stubs
for torchvision and visdom, which it imports and does not use here. TORCHDYNAMO_DISABLE=1 spares a minute of compiling.
`python bench/minimal.py --model compact:cnn-normal --data shapes:val --images 6 --steps 200`
`python bench/minimal.py --network enet --weights <folder> --data camvid:<folder> --images 2 --steps 100`
`python bench/minimal.py --images 0 --pairs 15` for the second table alone
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch
from attacks import bare, cpu_seconds
from networks import NETWORKS
from networks import load as load_network
from torch import Tensor, nn

from segstress.attacks import Attack, attacks
from segstress.attacks.polish import POLISHING
from segstress.core import Batch, Threat
from segstress.data import load as load_data
from segstress.jobs.judge import stack
from segstress.models import load as load_model

ATTACKS = ("alma-prox", "pdpgd", "dag")
GAMMA = chr(947)  # adv-lib names its step by the Greek letter
EXTRA = POLISHING + 2  # forwards of ours that are no steps: the polish, the clean image, the last iterate
SIDES = (360, 480)  # of the second table
STEPS = 10  # of the second table; beside them stand EXTRA forwards
Run = Callable[[nn.Module, Batch], Tensor]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="compact:cnn-normal")
    parser.add_argument("--network", choices=sorted(NETWORKS), help="instead of a model")
    parser.add_argument("--weights", type=Path, help="folder with <network>.pth; random weights by default")
    parser.add_argument("--data", default="shapes:val")
    parser.add_argument("--images", type=int, default=6)
    parser.add_argument(
        "--steps", type=int, default=200, help="forwards of every attack; ours spend some on the polish"
    )
    parser.add_argument("--pairs", type=int, default=0, help="alternating pairs of the second table")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if asked.images:
        model = load_network(asked.network, asked.weights) if asked.network else load_model(asked.model)
        data = load_data(asked.data)
        compare(model, [stack([data.read(id_)]) for id_ in data.ids()[: asked.images]], asked.steps)
    if asked.pairs:
        overhead(load_network(asked.network or "enet", asked.weights), asked.pairs)


def compare(model: nn.Module, batches: Sequence[Batch], steps: int) -> None:
    """Sizes, failures and CPU time of ours and theirs, and the ratio of sizes image by image."""
    theirs = peers(steps)
    print(
        f"{'attack':<12}{'whose':<9}{'median':>8}{'mean':>8}{'failed':>8}{'CPU s':>8}   sizes x 255; a failure is 255"
    )
    for name in ATTACKS:
        rows = {"ours": partial(our, {"kind": name, "steps": max(steps - EXTRA, 1)})}
        if name in theirs:
            rows["adv-lib"] = theirs[name]
        sizes = {}
        for whose, run in rows.items():
            sizes[whose], seconds = zip(*(measure(model, batch, run) for batch in batches), strict=True)
            middle, mean = statistics.median(sizes[whose]), statistics.mean(sizes[whose])
            failed, spent = sizes[whose].count(255.0), statistics.median(seconds)
            print(f"{name:<12}{whose:<9}{middle:8.3f}{mean:8.3f}{failed:8}{spent:8.2f}", flush=True)
        if len(sizes) == 2:
            ratios = [mine / other for mine, other in zip(sizes["ours"], sizes["adv-lib"], strict=True)]
            print(f"{name:<12}{'ratio':<9}{statistics.median(ratios):8.3f}", flush=True)


def measure(model: nn.Module, batch: Batch, run: Run) -> tuple[float, float]:
    """The linf size for one image, judged by a fresh forward pass, and CPU seconds."""
    found: list[Tensor] = []
    seconds = cpu_seconds(lambda: found.append(run(model, batch)))
    with torch.no_grad():
        wrong = (model(found[0]).argmax(1) != batch.labels) & batch.valid
    enough = float(wrong.sum()) >= 0.99 * float(batch.valid.sum())
    return 255 * float((found[0] - batch.images).abs().max()) if enough else 255.0, seconds


def our(spec: dict[str, object], model: nn.Module, batch: Batch) -> Tensor:
    """Ours, polish included."""
    return Attack(algorithm=attacks.build(spec), threat=Threat()).perturb(model, batch, 0).results[0].images


def peers(steps: int) -> dict[str, Run]:
    """adv-lib's, with the settings of the paper; none where it is not installed."""
    try:
        from adv_lib.attacks.segmentation import alma_prox, dag, pdpgd
    except ImportError:
        print("adv-lib is not installed: ours only")
        return {}

    def run(attack: Callable[..., Tensor], model: nn.Module, batch: Batch) -> Tensor:
        return attack(model, batch.images, batch.labels, masks=batch.valid)

    return {
        "alma-prox": partial(run, partial(alma_prox, num_steps=steps)),
        "pdpgd": partial(run, partial(pdpgd, norm=math.inf, num_steps=steps, primal_lr=0.01)),
        "dag": partial(run, partial(dag, max_iter=steps, **{GAMMA: 0.003})),
    }


def overhead(model: nn.Module, pairs: int) -> None:
    """CPU time over that of as many bare forwards and backwards; noise, labelled as the model sees it."""
    images = torch.rand(1, 3, *SIDES, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        labels = model(images).argmax(1)
    batch = Batch(("noise",), images, labels, torch.ones_like(labels, dtype=torch.bool))
    print(f"{'attack':<12}{'CPU time over bare passes':>26}")
    for name in ATTACKS[:2]:
        attack = Attack(algorithm=attacks.build({"kind": name, "steps": STEPS}), threat=Threat())
        cost = attack.perturb(model, batch, 0)
        forwards, backwards = int(cost.forwards), int(cost.backwards)
        ratios = []
        for _ in range(pairs):
            ours = cpu_seconds(lambda attack=attack: attack.perturb(model, batch, 0))
            ratios.append(ours / cpu_seconds(lambda f=forwards, b=backwards: bare(model, batch, f, b)))
        print(f"{name:<12}{statistics.median(ratios):26.3f}", flush=True)


if __name__ == "__main__":
    main()
