"""Batteries side by side on the embedded robust models: strength, passes; on the normal ones: what sparing saves.

Command: python bench/batteries.py [--images 24] [--data shapes:test] [--against published,sea,trying-harder]. Runs
resume; shares are in percent and differences in points, with paired intervals over images.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from segstress.evaluation import evaluate
from segstress.evaluation.report import studies
from segstress.metrics import metrics
from segstress.metrics.intervals import difference
from segstress.metrics.scores import image_accuracy, image_miou
from segstress.reports.study.assessment import Assessment, assess
from segstress.runtime import RunOptions

FIGURES = ("accuracy", "cmiou", "nmiou")
IMAGE_SCORES = {"accuracy": image_accuracy, "nmiou": image_miou}
ROBUST, NORMAL = "cnn-pgd-at-100,cnn-segpgd-at-100,transformer-pgd-at-100", "cnn-normal,transformer-normal"


def run(given: argparse.Namespace, model: str, battery: str, **settings: object) -> Assessment:
    """One battery on one model, resumed where it was left."""
    data = f"{given.data}?count={given.images}"
    asked = {"models": [model if ":" in model else f"compact:{model}"], "data": [data], "battery": battery}
    how = {"eps": "8/255", "weights": "shapes:train?count=2000", "numerics": {"batch_size": 4}, **settings}
    done = evaluate({**asked, **how}, given.out / named(model, battery, given.data, **settings), RunOptions())
    (study,) = studies([done.folder])
    return assess(study)


def named(model: str, battery: str, data: str, **settings: object) -> str:
    """The folder of a run."""
    words = [model.replace(":", "-").replace("/", "-"), battery, data.replace(":", "-")]
    return "-".join([*words, *(f"{key}={value}" for key, value in settings.items())])


def passes(judged: Assessment) -> int:
    """Forwards and backwards of all attacks."""
    return sum(sum(outcome.rows.passes()) for outcome in judged.study.outcomes)


def alone(judged: Assessment) -> None:
    """What every attack of a battery leaves by itself."""
    for outcome in judged.study.outcomes:
        left = " / ".join(f"{100 * judged.score(figure, outcome.label):.2f}" for figure in FIGURES)
        print(f"  {outcome.label:40} {left}   {sum(outcome.rows.passes())} passes")


def compare(ours: Assessment, name: str, other: Assessment, against: str) -> None:
    """Strength of a battery against another, with paired intervals over images."""
    for figure in FIGURES:
        apart = difference(ours.worst[figure].counts, other.worst[figure].counts, metrics.get(figure))
        low, high = 100 * apart.low, 100 * apart.high
        print(
            f"{figure:9} {name} {100 * ours.worst_score(figure):6.2f}  {against} {100 * other.worst_score(figure):6.2f}"
            f"  apart {100 * apart.value:+.2f} ({low:+.2f} to {high:+.2f})"
        )
    for figure, score in IMAGE_SCORES.items():
        mine, theirs = (score(each.worst[figure].counts) for each in (ours, other))
        further = 100 * (mine - np.minimum(mine, theirs)).mean()
        print(f"{figure:9} {against} lowers {name} further by {further:.2f}, on {(theirs < mine).sum()} of {len(mine)}")
    print(
        f"passes    {name} {passes(ours)}  {against} {passes(other)}  ({passes(ours) / passes(other):.3f})", flush=True
    )


def main() -> None:
    """Print every comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=24)
    parser.add_argument("--data", default="shapes:test")
    parser.add_argument("--out", type=Path, default=Path("runs/bench-batteries"))
    parser.add_argument("--models", default=ROBUST)
    parser.add_argument("--normal", default=NORMAL)
    parser.add_argument("--ours", default="strong,quick")
    parser.add_argument("--against", default="published")
    given = parser.parse_args()
    for model in filter(None, given.models.split(",")):
        print(f"{model}, {given.images} images of {given.data}, linf 8/255; worst case in percent")
        for ours in given.ours.split(","):
            judged = run(given, model, ours, exhaustive=True)
            print(f"one class everywhere: accuracy {100 * judged.constant('accuracy'):.2f}")
            alone(judged)
            for battery in filter(None, given.against.split(",")):
                compare(judged, ours, run(given, model, battery, exhaustive=True), battery)
    for model in filter(None, given.normal.split(",")):
        for battery in ("strong", "published"):
            spared, whole = (run(given, model, battery, exhaustive=flag) for flag in (False, True))
            left = " / ".join(f"{100 * spared.worst_score(figure):.3f}" for figure in FIGURES)
            share = passes(spared) / passes(whole)
            print(f"{model} {battery}: {left} after {passes(spared)} passes, {share:.3f} of the exhaustive ones")


if __name__ == "__main__":
    main()
