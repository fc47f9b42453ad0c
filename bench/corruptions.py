"""CPU time of every corruption beside imagecorruptions-imaug 1.1.5, one 1024 x 2048 image at severity 3, one thread.

The peer needs numba and OpenCV, so it lives in an environment of its own:

    python -m venv peer && peer/bin/pip install imagecorruptions-imaug==1.1.5
    python bench/corruptions.py --peer peer/bin/python        (or PEER=peer/bin/python make bench)
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from segstress.corruptions import SUITES, alter, corruptions

SIDES = (1024, 2048)
SEVERITY = 3
WITHOUT_FROST = [name for name in SUITES["common15"] if not name.startswith("frost")]
EXEMPT = ("jpeg_compression", "pixelate", "defocus_blur")  # libjpeg, Pillow and OpenCV against themselves
PEER = """
import sys, time
import cv2, numpy
from imagecorruptions import corrupt
cv2.setNumThreads(1)
image = numpy.load(sys.argv[1])
for line in sys.stdin:
    started = time.process_time()
    corrupt(image, severity=3, corruption_name=line.strip())
    print(time.process_time() - started, flush=True)
"""


def scene() -> np.ndarray:
    """An 8-bit picture with slopes, edges and texture."""
    rows, columns = np.mgrid[: SIDES[0], : SIDES[1]]
    waves = np.stack([np.sin(rows / 37 + shift) * np.cos(columns / 53) for shift in range(3)], -1)
    edges = ((rows // 96 + columns // 128) % 2)[..., None] * 0.3
    texture = np.random.default_rng(0).normal(0, 0.05, (*SIDES, 3))
    return ((0.5 + 0.25 * waves + edges - 0.15 + texture).clip(0, 1) * 255).astype(np.uint8)


class Peer:
    """The other package, in its own process."""

    def __init__(self, python: str, image: str) -> None:
        alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [python, "-c", PEER, image], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=alone
        )

    def seconds(self, name: str) -> float:
        """CPU seconds of one call."""
        print(name, file=self.process.stdin, flush=True)
        return float(next(iter(self.process.stdout or ())))


def our_seconds(name: str, images: torch.Tensor) -> float:
    """CPU seconds of one call of ours."""
    corruption = corruptions.build(name)
    started = time.process_time()
    alter(corruption, images, SEVERITY, ids=("scene",), seed=0)
    return time.process_time() - started


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--peer", default=os.environ.get("PEER"), help="Python interpreter that has imagecorruptions-imaug 1.1.5"
    )
    parser.add_argument("--pairs", type=int, default=3, help="alternating pairs after one to warm up")
    given = parser.parse_args()
    torch.set_num_threads(1)
    image = scene()
    path = str(Path(tempfile.mkdtemp()) / "scene.npy")
    np.save(path, image)
    images = torch.from_numpy(image).permute(2, 0, 1)[None] / 255
    peer = Peer(given.peer, path) if given.peer else None
    print(f"{'corruption':22}{'ours, s':>10}{'peer, s':>10}{'ratio':>8}")
    totals = [0.0, 0.0]
    for name in [*WITHOUT_FROST, *SUITES["extra4"], "frost_procedural", *SUITES["local"]]:
        shared = peer is not None and name in [*WITHOUT_FROST, *SUITES["extra4"]]
        times = [
            (our_seconds(name, images), peer.seconds(name) if peer and shared else np.nan)
            for _ in range(given.pairs + 1)
        ]
        ours, theirs = (statistics.median(column) for column in zip(*times[1:], strict=True))
        if name in WITHOUT_FROST:
            totals = [totals[0] + ours, totals[1] + theirs]
        slow = " slower than 1.10" if ours > 1.10 * theirs and name in WITHOUT_FROST and name not in EXEMPT else ""
        print(f"{name:22}{ours:10.3f}{theirs:10.3f}{ours / theirs:8.2f}{slow}")
    print(f"{'the 14 without frost':22}{totals[0]:10.3f}{totals[1]:10.3f}{totals[0] / totals[1]:8.2f} (wanted: 0.40)")


if __name__ == "__main__":
    main()
