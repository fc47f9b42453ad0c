"""Ours side by side with public attacks by their own code: what each leaves, its passes, its CPU time, and a picture.

Command: python bench/duel.py [--model compact:cnn-pgd-at-100] [--images 8] [--steps 100] [--out runs/bench-duel].
Peers run in a throw-away environment below --out (pip, without their dependencies; torch and segstress are borrowed
from this one). What cannot be installed or does not run is named, and our preset stands in for it; so it does for SEA,
TsallisPGD and RP-PGD, which are in no registry. Every image of every attack is checked against ball and box and judged
by a fresh pass here.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import venv
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import torch
from torch import nn

import segstress
from segstress.attacks import Attack, attacks, needs_weights
from segstress.core import Batch, Threat
from segstress.data import load as load_data
from segstress.data import stack
from segstress.metrics import metrics
from segstress.metrics.counts import count, predict
from segstress.metrics.scores import image_miou
from segstress.metrics.worst_case import greedy, lowest
from segstress.planning.battery_files import battery
from segstress.planning.weighting import class_weights

matplotlib.use("Agg")
from matplotlib import pyplot

PACKAGES = {"torchattacks": "torchattacks==3.5.1", "cospgd": "cospgd==0.1.3", "advlib": "adv-lib==0.2.8"}
PEERS = {  # and what stands in for those that do not run, in as many steps
    "torchattacks_pgd": "pgd?steps=",
    "torchattacks_mifgsm": "mi-fgsm?steps=",
    "cospgd_segpgd": "segpgd?steps=",
    "cospgd_cospgd": "cospgd?steps=",
    "advlib_dag": "dag?steps=",
    "advlib_alma_prox": "alma-prox?steps=",
}
SPLIT = "shapes:train?count=2000"  # by which SEA's balanced loss weighs classes
BATTERIES = ("quick", "strong", "published", "sea")
OURS = tuple(f"{name}?steps={steps}" for name in ("annealed-error", "annealed-iou") for steps in (12, 25, 50, 100, 200))
EPS = 8 / 255
CODE = Path(__file__).parent / "plugins" / "peers.py"


@dataclass(frozen=True)
class Bout:
    """What one attack left: counts of its candidates, (candidates, images, classes, 3), and what that cost an image."""

    name: str
    kind: str  # peer, ours, published, battery
    counts: np.ndarray
    passes: float
    seconds: float  # of CPU time

    def figures(self) -> tuple[float, float, float]:
        """Accuracy, CmIoU and NmIoU in percent, each of the candidates that are worst for it."""
        answered = np.ones(self.counts.shape[:2], dtype=bool)
        chosen = {
            "accuracy": lowest(self.counts, answered),
            "cmiou": greedy(self.counts, answered),
            "nmiou": lowest(self.counts, answered, image_miou),
        }
        accuracy, cmiou, nmiou = (100 * metrics.get(name)(choice.counts) for name, choice in chosen.items())
        return accuracy, cmiou, nmiou


@dataclass(frozen=True)
class Ring:
    """A model and images on which attacks meet."""

    model: nn.Module
    batch: Batch
    eps: float = EPS

    @torch.no_grad()
    def judge(self, images: torch.Tensor) -> np.ndarray:
        """Counts by a fresh pass, of images inside ball and box."""
        if (images - self.batch.images).abs().max() > self.eps + 1e-6 or images.min() < 0 or images.max() > 1:
            raise ValueError("images outside the ball or the box")
        logits = self.model(images)
        return count(predict(logits), self.batch.labels, self.batch.valid, logits.shape[1]).numpy()

    def ours(self, spec: str | dict[str, object], kind: str) -> Bout:
        """One attack of this package."""
        plain = attacks.read(spec if isinstance(spec, str) else {"kind": spec["attack"], **_without(spec)})
        keep = plain.pop("keep", None)
        algorithm = attacks.build(plain)
        weights = class_weights(SPLIT) if needs_weights(algorithm) else ()
        attack = Attack(algorithm=algorithm, threat=Threat(radius=self.eps), weights=weights, keep=keep)  # type: ignore[arg-type]
        started = time.process_time()
        done = [attack.perturb(self.model, self.batch.pick([place]), 0) for place in range(len(self.batch))]
        seconds = time.process_time() - started
        results = zip(*(one.results for one in done), strict=True)
        counts = np.stack([self.judge(torch.cat([result.images for result in goal])) for goal in results])
        passes = sum(int(one.forwards.sum() + one.backwards.sum()) for one in done)
        return self.bout(attack.name, kind, counts, passes, seconds)

    def bout(self, name: str, kind: str, counts: np.ndarray, passes: float, seconds: float) -> Bout:
        """What a whole attack left, its cost told for one image."""
        return Bout(name, kind, counts, passes / len(self.batch), seconds / len(self.batch))


@dataclass(frozen=True)
class Peers:
    """Other packages, in a Python of their own; they read the scene from a file and write images beside it."""

    ring: Ring
    model: str  # as they are to load it
    out: Path

    def __post_init__(self) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        batch = self.ring.batch
        np.savez(self.out / "scene.npz", images=batch.images.numpy(), labels=batch.labels.numpy())

    def run(self, name: str, python: Path, steps: int) -> Bout:
        """One attack of another package."""
        out = self.out / f"{name}-{steps}.npz"
        asked = [python, CODE, name, self.model, self.out / "scene.npz", out, self.ring.eps, steps]
        subprocess.run([str(word) for word in asked], check=True, capture_output=True, text=True)
        with np.load(out) as arrays:
            forwards, backwards, seconds = arrays["cost"]
            counts = self.ring.judge(torch.from_numpy(arrays["images"]))[None]
        return self.ring.bout(f"{name} {steps}", "peer", counts, forwards + backwards, seconds)


def _without(spec: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in spec.items() if key != "attack"}


def environment(folder: Path) -> Path:
    """A Python with the peers; what it lacks of theirs comes from this environment."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        site = next((folder / "lib").glob("python*/site-packages"))
        (site / "borrowed.pth").write_text(
            "\n".join(path for path in sys.path if path.endswith(("site-packages", "src")))
        )
    for package in PACKAGES.values():
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", "--no-deps", package], capture_output=True, text=True
        )
        if done.returncode:
            print(f"{package} could not be installed: {done.stderr.strip().splitlines()[-1]}")
    return python


def fight(peers: Peers, steps: int) -> list[Bout]:
    """Every bout, printed as it ends."""
    print(f"{'':44}{'accuracy':>9}{'CmIoU':>8}{'NmIoU':>8}{'passes':>9}{'CPU s':>8}   (passes and seconds an image)")
    bouts: list[Bout] = []

    def add(bout: Bout) -> None:
        accuracy, cmiou, nmiou = bout.figures()
        print(f"{bout.name:44}{accuracy:9.2f}{cmiou:8.2f}{nmiou:8.2f}{bout.passes:9.0f}{bout.seconds:8.2f}", flush=True)
        bouts.append(bout)

    ring, python = peers.ring, environment(peers.out / "peers")
    for name, preset in PEERS.items():
        try:
            add(peers.run(name, python, steps))
        except subprocess.CalledProcessError as error:
            said = error.stderr.strip().splitlines()[-1:] or [f"exit code {error.returncode}"]
            print(f"{name} did not run ({said[0]}); in its place our")
            add(ring.ours(f"{preset}{steps}", "published"))
    for spec in OURS:
        add(ring.ours(spec, "ours"))
    for name in BATTERIES:
        alone = [ring.ours(spec, "published") for spec in battery(name).perturbations]
        if name in ("published", "sea"):
            for bout in alone:
                add(bout)
        together = np.concatenate([bout.counts for bout in alone])
        passes, seconds = (sum(getattr(bout, what) for bout in alone) for what in ("passes", "seconds"))
        add(Bout(f"battery {name}", "battery", together, passes, seconds))
    return bouts


def draw(bouts: list[Bout], path: Path, title: str) -> None:
    """Accuracy against passes, both axes of what matters: lower and further left is stronger."""
    figure, axes = pyplot.subplots(figsize=(7.2, 4.4), layout="constrained")
    looks = {
        "peer": ("x", "#888888", "public code"),
        "published": ("o", "#5b8db8", "published attacks, our settings"),
        "battery": ("D", "#222222", "batteries"),
    }
    for kind, (marker, colour, label) in looks.items():
        some = [bout for bout in bouts if bout.kind == kind]
        points = ([bout.passes for bout in some], [bout.figures()[0] for bout in some])
        axes.plot(*points, marker, color=colour, label=label, alpha=0.85)
        if kind == "battery":
            for bout, x, y in zip(some, *points, strict=True):
                name = bout.name.removeprefix("battery ")
                axes.annotate(name, (x, y), textcoords="offset points", xytext=(0, 7), ha="center")
    for name, colour in (("annealed-error", "#c0392b"), ("annealed-iou", "#e08e45")):
        some = [bout for bout in bouts if bout.kind == "ours" and bout.name.startswith(name)]
        axes.plot([b.passes for b in some], [b.figures()[0] for b in some], "o-", color=colour, label=f"{name} (ours)")
    axes.set(xscale="log", xlabel="forward and backward passes an image", ylabel="accuracy left, %", title=title)
    axes.margins(x=0.08)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    for suffix in ("svg", "pdf", "png"):
        figure.savefig(path.with_suffix(f".{suffix}"), dpi=150)


def main() -> None:
    """Print the table and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="compact:cnn-pgd-at-100")
    parser.add_argument("--data", default="shapes:test")
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--steps", type=int, default=100, help="of the peers")
    parser.add_argument("--out", type=Path, default=Path("runs/bench-duel"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    source = load_data(f"{given.data}?count={given.images}")
    ring = Ring(segstress.load_model(given.model), stack([source.read(id_) for id_ in source.ids()]))
    bouts = fight(Peers(ring, given.model, given.out.resolve()), given.steps)
    title = f"{given.model}, {given.images} images of {given.data}, linf 8/255"
    draw(bouts, given.out / "duel", title)


if __name__ == "__main__":
    main()
