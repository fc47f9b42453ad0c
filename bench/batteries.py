"""Batteries side by side on the embedded robust models: strength, passes; on the normal one: what sparing saves.

Command: python bench/batteries.py [--images 24] [--out runs/bench-batteries]. Runs resume; shares are in points.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from segstress.jobs import Ways, evaluate
from segstress.jobs.audit import Rule, choose
from segstress.jobs.report import studies
from segstress.metrics import metrics
from segstress.metrics.intervals import difference
from segstress.reports.assessment import Assessment, assess
from segstress.runtime import Store

FIGURES = ("accuracy", "cmiou", "nmiou")
ROBUST, NORMAL = "cnn-pgd-at-100,cnn-segpgd-at-100,transformer-pgd-at-100", "cnn-normal"


def run(out: Path, model: str, battery: str, images: int, **settings: object) -> Assessment:
    """One battery on one model, resumed where it was left."""
    asked = {"models": [f"compact:{model}"], "data": [f"shapes:test?count={images}"], "battery": battery}
    given = {"eps": "8/255", "numerics": {"batch_size": 4}, **settings}
    done = evaluate({**asked, **given}, out / named(model, battery, **settings), Ways())
    (study,) = studies([done.folder])
    return assess(study)


def named(model: str, battery: str, **settings: object) -> str:
    """The folder of a run."""
    return "-".join([model, battery, *(f"{key}={value}" for key, value in settings.items())])


def passes(judged: Assessment) -> int:
    """Forwards and backwards of all attacks."""
    return sum(sum(outcome.passes) for outcome in judged.study.outcomes)


def compare(strong: Assessment, other: Assessment, name: str) -> None:
    """Strength of a battery against ours, with paired intervals over images."""
    for figure in FIGURES:
        apart = difference(strong.worst[figure].counts, other.worst[figure].counts, metrics.get(figure))
        low, high = 100 * apart.low, 100 * apart.high
        print(
            f"{name:15} {figure:9} ours {100 * strong.worst_score(figure):6.2f}  "
            f"theirs {100 * other.worst_score(figure):6.2f}  apart {100 * apart.value:+.2f} ({low:+.2f} to {high:+.2f})"
        )
    print(f"{name:15} passes    ours {passes(strong)}  theirs {passes(other)}")


def curve(folder: Path, whole: Assessment) -> None:
    """Loss of strength against passes, when an audit of a few images chooses the attacks."""
    store = Store(folder)
    cells = store.cells()
    clean = next(cell for cell in cells if cell.perturbation["kind"] == "clean")
    attacks = [cell for cell in cells if cell is not clean]
    labels = [outcome.label for outcome in whole.study.outcomes]
    names = {
        cell.key: label for cell in attacks for label in labels if cell.names["perturbation"].startswith(f"{label} ")
    }
    cost = {outcome.label: sum(outcome.passes) / len(whole.study.ids) for outcome in whole.study.outcomes}
    total = sum(cost.values())
    print("share of passes   kept   accuracy lost   NmIoU lost   (points, against all attacks on all images)")
    for share in (0.1, 0.2, 0.3, 0.4, 0.6, 1.0):
        choice = choose(store, clean, attacks, Rule(spend=share))
        kept = [whole.labels.index(names[key]) for key in choice.kept]
        spent = sum(cost[whole.labels[place]] for place in kept) / total
        lost = []
        for figure in ("accuracy", "nmiou"):
            counts = whole.counts(figure)[[0, *kept]]
            score = metrics.get(figure)
            chosen = np.argmin([[score(image[None]) for image in attack] for attack in counts], axis=0)
            worst = counts[chosen, np.arange(counts.shape[1])]
            lost.append(100 * (score(worst) - whole.worst_score(figure)))
        print(f"{spent:15.2f} {len(kept):6d} {lost[0]:+15.2f} {lost[1]:+12.2f}")
    print(f"(the choice was made on all {len(whole.study.ids)} images here; a run makes it on a few)")


def main() -> None:
    """Print every comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=24)
    parser.add_argument("--out", type=Path, default=Path("runs/bench-batteries"))
    parser.add_argument("--models", default=ROBUST)
    parser.add_argument("--against", default="sea,sea-v1,trying-harder")
    given = parser.parse_args()
    for model in given.models.split(","):
        print(f"{model}, {given.images} images of shapes:test, linf 8/255; worst case in percent")
        strong = run(given.out, model, "strong", given.images, exhaustive=True)
        print(f"one class everywhere: accuracy {100 * strong.constant('accuracy'):.2f}")
        for battery in given.against.split(","):
            compare(strong, run(given.out, model, battery, given.images, exhaustive=True), battery)
        curve(given.out / named(model, "strong", exhaustive=True), strong)
        adaptive = run(given.out, model, "adaptive", given.images)
        print(f"adaptive: {passes(adaptive) / passes(strong):.2f} of the exhaustive passes")
        compare(adaptive, strong, "exhaustive")
    print(f"{NORMAL}: what sparing finished images saves")
    spared, whole = (run(given.out, NORMAL, "strong", given.images, exhaustive=flag) for flag in (False, True))
    print(f"spared: {passes(spared) / passes(whole):.3f} of the exhaustive passes")
    compare(spared, whole, "exhaustive")


if __name__ == "__main__":
    main()
