"""What images per pass are worth: CPU time of a forward and backward pass of one image, alone and with others.

Command: python bench/batching.py [--models ...]. One thread; the smallest of six passes, as a ratio to one image alone.
The rule of planning/batching.py was read off this table."""

from __future__ import annotations

import argparse
import time

import torch
from torch import nn

import segstress
from segstress.planning.batching import images_per_pass, parameters

PLAIN = "classes=21&mean=0,0,0&std=1,1,1"
MODELS = (
    "compact:cnn-pgd-at-100",
    "compact:transformer-pgd-at-100",
    "compact:unet-normal",
    f"torchvision:lraspp_mobilenet_v3_large?{PLAIN}",
    f"torchvision:fcn_resnet50?{PLAIN}",
)
SIDES, SIZES = (96, 128, 192, 256, 384), (1, 2, 4, 8)


def seconds(network: nn.Module, size: int, side: int) -> float:
    """Return the CPU time of one image, `size` of them together."""
    images, times = torch.rand(size, 3, side, side, requires_grad=True), []
    for _ in range(7):
        started = time.process_time()
        torch.autograd.grad(network(images).square().sum(), images)
        times.append(time.process_time() - started)
    return min(times[1:]) / size


def main() -> None:
    """Print a line for each model and side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS)
    torch.set_num_threads(1)
    for spec in parser.parse_args().models:
        network = segstress.load_model(spec)
        learnt = parameters(network)
        for side in SIDES:
            sizes = [size for size in SIZES if size == 1 or learnt < 10**7 or size * side**2 <= 4 * 192**2]
            times = {size: seconds(network, size, side) for size in sizes}
            ratios = "  ".join(f"{size}: {value / times[1]:.2f}" for size, value in times.items())
            print(f"{spec.split('?')[0]:42}{learnt:>10} {side:4} px  {ratios}  rule {images_per_pass(side**2, learnt)}")


if __name__ == "__main__":
    main()
