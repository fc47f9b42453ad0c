"""Peak memory of attacks at 512 px beside one bare pass and ten image-sized tensors; every figure from a fresh process.

Command: python bench/memory.py [--attacks pgd,progressive-jsd] [--side 512]. The ratio should stay within 1.5.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

import torch
from attacks import bare, scene
from networks import load

from segstress.attacks import Attack, attacks
from segstress.core import Threat

LIMIT = 1.5
STEPS = 4
MEBIBYTE = 2**20


def peak() -> int:
    """The most bytes that this process ever held."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(name: str, side: int) -> int:
    """Bytes that an attack (or `bare`, one pass) adds to what the process held before."""
    torch.set_num_threads(1)
    model = load("enet")
    batch = scene(model, side)
    before = peak()
    if name == "bare":
        bare(model, batch, forwards=1, backwards=1)
    else:
        steps = {"steps": STEPS} if attacks.build(name).passes()[0] > STEPS else {}
        attack = Attack(algorithm=attacks.build({"kind": name, **steps}), threat=Threat(radius="4/255"))
        attack.perturb(model, batch, 0)
    return peak() - before


def fresh(name: str, side: int) -> int:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--side", str(side), "--one", name]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print one line for each attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attacks", default="pgd,padam-cos,mi-fgsm,progressive-jsd,apgd-dlr,dla,square")
    parser.add_argument("--side", type=int, default=512)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(measure(asked.one, asked.side))
        return
    allowed = fresh("bare", asked.side) + 10 * 4 * 3 * asked.side**2
    print(f"{'bare and ten images':<22}{allowed / MEBIBYTE:>8.0f} MiB")
    for name in asked.attacks.split(","):
        bytes_ = fresh(name, asked.side)
        verdict = "" if bytes_ <= LIMIT * allowed else "  above the limit"
        print(f"{name:<22}{bytes_ / MEBIBYTE:>8.0f} MiB{bytes_ / allowed:>7.2f}{verdict}", flush=True)


if __name__ == "__main__":
    main()
