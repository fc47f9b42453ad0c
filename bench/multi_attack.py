"""What the multi-attack costs beyond its passes, measured as bench/attacks.py measures one attack.

`python bench/multi_attack.py --sides 128,256`
"""

from __future__ import annotations

import argparse
import statistics

import torch
from attacks import LIMITS, bare, cpu_seconds, scene
from networks import NETWORKS, load
from torch import nn

from segstress.core import perturbations

STEPS, NUMBER = 5, 3


def overhead(model: nn.Module, side: int, pairs: int) -> float:
    """Median ratio of the whole multi-attack to as many bare passes."""
    batch = scene(model, side)
    change = perturbations.build(
        {
            "kind": "multi-attack",
            "region": {"kind": "box", "height": side // 4, "width": side // 4},
            "attack": {"kind": "pgd", "steps": STEPS, "random_start": False, "keep": "last"},
            "number": NUMBER,
        }
    )
    done = change.perturb(model, batch, 0)
    forwards, backwards = int(done.forwards[0]), int(done.backwards[0])
    ratios = [
        cpu_seconds(lambda: change.perturb(model, batch, 0))
        / cpu_seconds(lambda: bare(model, batch, forwards, backwards))
        for _ in range(pairs)
    ]
    return statistics.median(ratios)


def main() -> None:
    """Print the ratio of every network and side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", default="128,256")
    parser.add_argument("--pairs", type=int, default=15)
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name in NETWORKS:
        model = load(name)
        for side in map(int, given.sides.split(",")):
            ratio, limit = overhead(model, side, given.pairs), LIMITS.get(side, 1.10)
            print(f"{name:20} {side:5} px {ratio:6.3f}  (wanted: {limit:.2f}){' too slow' if ratio > limit else ''}")


if __name__ == "__main__":
    main()
