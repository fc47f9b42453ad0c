"""How often `segstress verify` notices an editor who renews checksums and seal: counted, beside the calculated share.

    python bench/detection.py [--draws 50] [--share 0.1] [--unkept 40] [--edited 1,4,16] [--batches 1,4]

Of a run some images' counts are made worse by one pixel each, in images without kept pictures, everything else made to
fit. verify then draws its share anew, so often. Calculated is 1 - C(n - k, m) / C(n, m) for images drawn one by one;
verify compares all images that met the model beside a drawn one, too, so that larger batches show more.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from segstress.evaluation import evaluate
from segstress.evaluation.run import GALLERY
from segstress.evaluation.verify import verify
from segstress.runtime import RunOptions

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.forging import unkept, worsen

PLAN = {"models": ["compact:cnn-normal"], "perturbations": ["fgsm"], "eps": "4/255"}


def main() -> None:
    """Print one line for each size of a batch and number of edited images."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--unkept", type=int, default=40)
    parser.add_argument("--edited", default="1,4,16")
    parser.add_argument("--batches", default="1,4")
    given = parser.parse_args()
    drawn = math.ceil(given.share * given.unkept)
    print("| images a pass | edited | noticed, calculated | noticed, counted |\n|---:|---:|---:|---:|", flush=True)
    for batch in map(int, given.batches.split(",")):
        with TemporaryDirectory() as place:
            run, copy = Path(place) / "run", Path(place) / "copy"
            data = [f"shapes:test?count={GALLERY + given.unkept}&size=32"]
            evaluate({**PLAN, "data": data, "numerics": {"batch_size": batch}}, run, RunOptions(workers=1))
            for edited in map(int, given.edited.split(",")):
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(run, copy)
                worsen(copy, unkept(copy)[:: given.unkept // edited][:edited])
                noticed = sum(
                    not all(verdict.sound for verdict in verify(copy, given.share)) for _ in range(given.draws)
                )
                missed = math.comb(given.unkept - edited, drawn) / math.comb(given.unkept, drawn)
                print(f"| {batch} | {edited} | {1 - missed:.1%} | {noticed / given.draws:.1%} |", flush=True)


if __name__ == "__main__":
    main()
