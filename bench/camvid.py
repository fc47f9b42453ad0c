"""Every attack at equal passes on networks that nothing was tuned on: CamVid images, public weights, two small radii.

Command: python bench/camvid.py --data camvid:<folder> --weights <folder> [--networks enet,cgnet,espnet] [--images 4]
[--steps 100] [--eps 0.25/255,0.5/255] [--sides 180x240]. An asterisk marks an attack of the battery published that
leaves less of a figure than both of quick, by more than a tenth of a point. All but CGNet take multiples of eight
only, so their sides are rounded up.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from duel import Ring
from networks import load

from segstress.core.configuration import parse_radius
from segstress.data import load as load_data
from segstress.data import resize, stack
from segstress.data.resizing import Resize
from segstress.planning.battery_files import battery

SLACK = 0.1  # points within which figures count as equal


def names(which: str) -> list[str]:
    """The attacks of a battery, without their settings."""
    return [spec if isinstance(spec, str) else str(spec["attack"]) for spec in battery(which).perturbations]


def duel(network: str, eps: float, given: argparse.Namespace) -> None:
    """Both attacks of quick, which are the annealed ones, and all of published, in as many steps each."""
    height, width = (int(side) for side in given.sides.split("x"))
    if network != "cgnet":
        height, width = (-(-side // 8) * 8 for side in (height, width))
    source = load_data(given.data)
    samples = [
        resize(source.read(id_), Resize(rule="exact", size=(height, width))) for id_ in source.ids()[: given.images]
    ]
    ring = Ring(load(network, given.weights), stack(samples), eps)
    print(f"{network}, {given.images} images at {height}x{width}, linf {255 * eps:g}/255, {given.steps} steps")
    ours = [show(ring, name, given.steps) for name in names("quick")]
    lowest = [min(figures) - SLACK for figures in zip(*ours, strict=True)]
    for name in names("published"):
        show(ring, name, given.steps, lowest)


def show(ring: Ring, name: str, steps: int, lowest: list[float] | None = None) -> tuple[float, float, float]:
    """One attack's line: accuracy, CmIoU, NmIoU, each marked where it is below the lowest of ours."""
    bout = ring.ours({"attack": name, "steps": steps}, "")
    figures = bout.figures()
    marks = [
        "*" if lowest and figure < limit else " " for figure, limit in zip(figures, lowest or figures, strict=True)
    ]
    words = "  ".join(f"{figure:6.2f}{mark}" for figure, mark in zip(figures, marks, strict=True))
    print(f"  {name:24} {words}  {bout.passes:5.0f} passes", flush=True)
    return figures


def main() -> None:
    """Print a table for each network and radius."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--networks", default="enet,cgnet,espnet")
    parser.add_argument("--images", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--eps", default="0.25/255,0.5/255")
    parser.add_argument("--sides", default="180x240")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for network in given.networks.split(","):
        for eps in given.eps.split(","):
            duel(network, parse_radius(eps), given)


if __name__ == "__main__":
    main()
