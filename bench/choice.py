"""Which attacks make a battery: candidates side by side on validation images, and the best sets of one, two, three.

Command: python bench/choice.py [--images 8] [--models ...] [--norm linf --eps 8/255] [--passes 1153]
[--out runs/bench-choice]. A set may cost an image that many passes, a fifth of the battery published. Runs resume;
figures are the mean over the models. Two of the models were trained for this choice alone, one of them begun with a
third:

segstress train --threads 1 --recipe pgd-at --share 1 --attack "pgd?steps=3&eps=0.03&step=0.02&keep=last" \\
  --model compact:unet --start compact:unet-normal --data "shapes:train?count=2000" --epochs 5 --seed 7 \\
  --out runs/choice/unet-pgd-at
segstress train transformer-normal --threads 1 --model "compact:transformer?seed=1" --seed 1 \\
  --out runs/choice/transformer-normal --save-as runs/choice/transformer-normal.safetensors
segstress train --threads 1 --recipe segpgd-at --share 1 --attack "segpgd?steps=3&eps=0.03&step=0.02&keep=last" \\
  --model compact:transformer --start checkpoint:runs/choice/transformer-normal.safetensors \\
  --data "shapes:train?count=2000" --epochs 5 --seed 8 --out runs/choice/transformer-segpgd-at
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np

from segstress.evaluation import evaluate
from segstress.evaluation.report import studies
from segstress.metrics.scores import image_accuracy, image_miou
from segstress.reports.study.assessment import Assessment, assess
from segstress.runtime import RunOptions

MODELS = (
    "compact:cnn-pgd-at-100,compact:cnn-segpgd-at-100,compact:transformer-pgd-at-100,"
    "checkpoint:runs/choice/unet-pgd-at/last.safetensors,"
    "checkpoint:runs/choice/transformer-segpgd-at/last.safetensors"
)
CANDIDATES = (
    "annealed-error",
    "annealed-error?steps=340",
    "annealed-error-balanced",
    "annealed-error-region",
    "annealed-ramp",
    "annealed-iou",
    "annealed-iou?steps=230",
    "padam?loss=annealed-error&rate=4/255",
    "padam?loss=annealed-iou&rate=4/255",
)


def run(model: str, given: argparse.Namespace) -> Assessment:
    """All candidates on one model."""
    data = f"{given.data}?count={given.images}"
    asked = {"models": [model], "data": [data], "perturbations": given.candidates.split(","), "eps": given.eps}
    numerics = {"norm": given.norm, "numerics": {"batch_size": 4}}
    folder = given.out / "-".join([*model.replace(":", "/").split("/")[1:], given.norm]).replace(".safetensors", "")
    (study,) = studies([evaluate({**asked, **numerics}, folder, RunOptions()).folder])
    return assess(study)


def scores(judged: Assessment) -> np.ndarray:
    """(candidates, images, 2): accuracy and mIoU of every image, in points; clean first."""
    accuracy, miou = image_accuracy(judged.counts("accuracy")), image_miou(judged.counts("nmiou"))
    return 100 * np.stack([accuracy, miou], axis=-1)


def main() -> None:
    """Print what every candidate leaves alone, and what the best sets leave."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--data", default="shapes:val")
    parser.add_argument("--candidates", default=",".join(CANDIDATES))
    parser.add_argument("--norm", default="linf")
    parser.add_argument("--eps", default="8/255")
    parser.add_argument("--most", type=int, default=4, help="attacks of a set")
    parser.add_argument("--passes", type=int, default=1153, help="forwards and backwards that a set may cost an image")
    parser.add_argument("--out", type=Path, default=Path("runs/bench-choice"))
    given = parser.parse_args()
    judged = [run(model, given) for model in given.models.split(",")]
    found = np.stack([scores(each) for each in judged])  # (models, candidates, images, 2)
    names, cost = (
        judged[0].labels,
        [0, *(sum(outcome.rows.passes()) / given.images for outcome in judged[0].study.outcomes)],
    )
    print(f"{given.images} images of {given.data}, {given.norm} {given.eps}: image accuracy / NmIoU, each model, mean")
    for place, name in enumerate(names):
        each = "  ".join(f"{a:5.2f}/{m:5.2f}" for a, m in found[:, place].mean(1))
        print(f"{name:44} {each}   {found[:, place, :, 0].mean():5.2f}/{found[:, place, :, 1].mean():5.2f}")
    for number in range(1, given.most + 1):
        every = combinations(range(1, len(names)), number)
        sets = [some for some in every if sum(cost[place] for place in some) <= given.passes]
        if not sets:
            break
        left = [found[:, [0, *some]].min(1).mean((0, 1)) for some in sets]
        best = int(np.argmin([both.sum() for both in left]))
        members, spent = " + ".join(names[place] for place in sets[best]), sum(cost[place] for place in sets[best])
        print(f"best {number}: {members}  {left[best][0]:.2f}/{left[best][1]:.2f}, {spent:.0f} passes")
    everything = found.min(1).mean((0, 1))
    print(f"all: {everything[0]:.2f}/{everything[1]:.2f}")


if __name__ == "__main__":
    main()
