"""Short steps beside long ones: which of a few attacks make the better battery, on shapes:val of models of every kind.

Command: python bench/steps.py [--images 8] [--models ...] [--data shapes:val] [--out runs/bench-steps]. Runs
resume; prints what each attack leaves (image accuracy / NmIoU in percent), and the worst case of sets of them that
cost about the same.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from segstress.evaluation import evaluate
from segstress.evaluation.report import studies
from segstress.metrics.scores import image_accuracy, image_miou
from segstress.runtime import RunOptions

MODELS = "cnn-pgd-at-50,cnn-ddc-at,cnn-pgd-at-100,transformer-pgd-at-100,cnn-normal"
ATTACKS = {
    "masked": "padam-mce-bal?steps=60",
    "error-330": "annealed-error?steps=330",
    "error-250": "annealed-error?steps=250",
    "short-error-80": "annealed-error?steps=80&longest=0.5",
    "short-error-120": "annealed-error?steps=120&longest=0.5",
    "middle-error-200": "annealed-error?steps=200&longest=1.0",
    "iou-180": "annealed-iou?steps=180",
    "short-iou-180": "annealed-iou?steps=180&longest=0.5",
}
SETS = (
    ("masked", "error-330", "iou-180"),  # strong v2
    ("masked", "short-error-80", "error-250", "iou-180"),
    ("short-error-120", "error-250", "iou-180"),
    ("short-error-120", "error-250", "short-iou-180"),
)


def main() -> None:
    """A table for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--data", default="shapes:val")
    parser.add_argument("--out", type=Path, default=Path("runs/bench-steps"))
    given = parser.parse_args()
    for model in given.models.split(","):
        asked = {"models": [f"compact:{model}"], "data": [f"{given.data}?count={given.images}"], "eps": "8/255"}
        how = {"perturbations": list(ATTACKS.values()), "exhaustive": True, "numerics": {"batch_size": 4}}
        (study,) = studies([evaluate({**asked, **how}, given.out / model, RunOptions()).folder])
        scores = {
            name: np.stack(
                [image_accuracy(outcome.counts["accuracy", "all"]), image_miou(outcome.counts["miou", "all"])]
            )
            for name, outcome in zip(ATTACKS, study.outcomes, strict=True)
        }
        print(model)
        for names in [*((name,) for name in ATTACKS), *SETS]:
            accuracy, nmiou = 100 * np.min([scores[name] for name in names], 0).mean(1)
            print(f"  {' + '.join(names):60} {accuracy:6.2f} / {nmiou:5.2f}")


if __name__ == "__main__":
    main()
