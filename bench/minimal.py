"""Minimal attacks at equal forward passes: beside one of them, beside adv-lib 0.2.8, and beside bare passes.

Needs adv-lib only for the second table: in an environment of its own, `pip install --no-deps adv-lib` and empty stubs
for torchvision and visdom, which it imports and does not use here. TORCHDYNAMO_DISABLE=1 spares a minute of compiling.
`python bench/minimal.py --beside alma-prox-auto --attacks annealed-border,ddn-auto --model compact:cnn-normal`,
where models may be several, separated by commas; or `--network enet,cgnet --weights <folder> --data camvid:<folder>`
`python bench/minimal.py --model compact:cnn-normal --data shapes:val --images 6 --steps 200`
`python bench/minimal.py --network enet --weights <folder> --data camvid:<folder> --images 2 --steps 100`
`python bench/minimal.py --images 0 --pairs 15` for the third table alone
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import torch
from attacks import bare, cpu_seconds
from networks import NETWORKS
from networks import load as load_network
from torch import Tensor, nn

from segstress.attacks import Attack, attacks
from segstress.attacks.search.polish import POLISHING
from segstress.core import Batch, Threat
from segstress.data import load as load_data
from segstress.data import resize, stack
from segstress.metrics.intervals import Interval, interval_of
from segstress.models import load as load_model

ATTACKS = ("alma-prox-auto", "pdpgd-auto", "dag-auto")
GAMMA = chr(947)  # adv-lib names its step by the Greek letter
EXTRA = POLISHING + 2  # forwards of ours that are no steps: the polish, the clean image, the last iterate
SMALL = 1e-3  # sizes below it count as it: an image that is wrong from the start has no ratio
SIDES = (360, 480)  # of the third table
STEPS = 10  # of the third table; beside them stand EXTRA forwards
Run = Callable[[nn.Module, Batch], Tensor]


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="compact:cnn-normal", help="one, or beside an attack several with commas")
    parser.add_argument("--network", help=f"instead of models: {', '.join(sorted(NETWORKS))}")
    parser.add_argument("--weights", type=Path, help="folder with <network>.pth; random weights by default")
    parser.add_argument("--data", default="shapes:val")
    parser.add_argument("--images", type=int, default=6)
    parser.add_argument(
        "--steps", type=int, default=200, help="forwards of every attack; ours spend some on the polish"
    )
    parser.add_argument("--beside", help="attack to which the sizes of others are compared, image by image")
    parser.add_argument("--attacks", default="annealed-border", help="the others, separated by commas")
    parser.add_argument("--pairs", type=int, default=0, help="alternating pairs of the third table")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    names = (asked.network or asked.model).split(",")
    read = partial(load_network, folder=asked.weights) if asked.network else load_model
    data = load_data(asked.data)
    batches = [stack([resize(data.read(id_), data.resize)]) for id_ in data.ids()[: asked.images]]
    if batches and asked.beside:
        duel({name: read(name) for name in names}, batches, [asked.beside, *asked.attacks.split(",")], asked.steps)
    elif batches:
        compare(read(names[0]), batches, asked.steps)
    if asked.pairs:
        overhead(load_network(asked.network or "enet", asked.weights), asked.pairs)


def duel(models: dict[str, nn.Module], batches: Sequence[Batch], specs: Sequence[str], steps: int) -> None:
    """Ratios of sizes to those of the first attack, by model and over all, and which attacks make the best sets."""
    print(f"{'model':<32}{'attack':<24}{'median':>8}{'failed':>8}{'smaller':>8}   geometric mean of ratios, 95 %")
    found: dict[str, list[np.ndarray]] = {spec: [] for spec in specs}
    for name, model in models.items():
        for spec in specs:
            run = partial(our, {**attacks.read(spec), "steps": max(steps - EXTRA, 1)})
            found[spec].append(np.array([max(measure(model, batch, run)[0], SMALL) for batch in batches]))
            tell(name, spec, found[spec][-1], found[specs[0]][-1])
    whole = {spec: np.concatenate(sizes) for spec, sizes in found.items()}
    for spec in specs:
        tell("all", spec, whole[spec], whole[specs[0]])
    for count in range(1, len(specs) + 1):
        sets = [
            (geometric(np.min([whole[s] for s in few], 0) / whole[specs[0]]), few) for few in combinations(specs, count)
        ]
        best, few = min(sets, key=lambda each: each[0].value)
        print(f"best {count}, the smallest of each image: {best.value:.3f} {', '.join(few)}")


def tell(model: str, spec: str, sizes: np.ndarray, beside: np.ndarray) -> None:
    """One row."""
    ratio, smaller = geometric(sizes / beside), int((sizes < beside).sum())
    print(
        f"{model:<32}{spec:<24}{np.median(sizes):8.3f}{int((sizes == 255).sum()):8}{smaller:8}"
        f"   {ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]",
        flush=True,
    )


def geometric(ratios: np.ndarray) -> Interval:
    """Geometric mean, with its interval over images."""
    logarithms = np.log(ratios)
    mean = interval_of(lambda weights: weights @ logarithms / weights.sum(1), len(logarithms))
    return Interval(*np.exp([mean.value, mean.low, mean.high]).tolist())


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
        "alma-prox-auto": partial(run, partial(alma_prox, num_steps=steps)),
        "pdpgd-auto": partial(run, partial(pdpgd, norm=math.inf, num_steps=steps, primal_lr=0.01)),
        "dag-auto": partial(run, partial(dag, max_iter=steps, **{GAMMA: 0.003})),
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
