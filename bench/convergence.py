"""Is a battery converged? Ten times its effort in several ways, and by how many points each lowers its figures.

Command: python bench/convergence.py [--images 24] [--models ...] [--data shapes:test] [--out runs/bench-convergence]
[--efforts steps,restarts,...] [--store]. Runs resume. --store writes the gaps to the package, for reports.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import segstress
from segstress.attacks import attacks
from segstress.evaluation import evaluate
from segstress.evaluation.report import studies
from segstress.metrics import metrics
from segstress.metrics.scores import image_accuracy, image_miou
from segstress.planning.battery_files import battery
from segstress.reports.study.assessment import Assessment, assess
from segstress.runtime import RunOptions

MODELS = "cnn-pgd-at-100,cnn-segpgd-at-100,transformer-pgd-at-100"
PLUGIN = str(Path(__file__).parent / "plugins" / "efforts.py")
STORED = Path(segstress.__file__).parent / "zoo" / "convergence.json"
SCORES = {"accuracy": image_accuracy, "nmiou": image_miou}
TIMES = 10
Specs = list[dict[str, Any]]


def specs(name: str) -> Specs:
    """The attacks of a battery, as mappings."""
    asked = battery(name).perturbations
    return [{"attack": spec} if isinstance(spec, str) else dict(spec) for spec in asked]


def longer(name: str, source: Path) -> Iterator[tuple[Specs, int]]:
    """Every attack with ten times the steps."""
    yield (
        [spec | {"steps": TIMES * attacks.build({"kind": spec["attack"], **rest(spec)}).steps} for spec in specs(name)],
        0,
    )


def restarts(name: str, source: Path) -> Iterator[tuple[Specs, int]]:
    """The same attacks with nine other seeds."""
    yield from ((specs(name), seed) for seed in range(1, TIMES))


def warm(name: str, source: Path) -> Iterator[tuple[Specs, int]]:
    """Climbs from the battery's best images."""
    yield [{"attack": "warm", "source": str(source)}], 0


def remaining(name: str, source: Path) -> Iterator[tuple[Specs, int]]:
    """The pixels that stand attacked without the others, then all again."""
    yield [{"attack": "warm", "source": str(source), "climbs": ["remaining-error", "sharp-error", "sharp-iou"]}], 0


def next_best(name: str, source: Path) -> Iterator[tuple[Specs, int]]:
    """Every attack towards the next best class of each pixel."""
    yield [spec | {"target": "next-best"} for spec in specs(name)], 0


def published(name: str, source: Path) -> Iterator[tuple[Specs, int]]:
    """Published losses and optimisers."""
    yield specs("published"), 0


EFFORTS: dict[str, Callable[[str, Path], Iterator[tuple[Specs, int]]]] = {
    "steps": longer,
    "restarts": restarts,
    "warm": warm,
    "remaining": remaining,
    "next-best": next_best,
    "published": published,
}


def rest(spec: dict[str, Any]) -> dict[str, Any]:
    """What a spec says beside the attack's name."""
    return {key: value for key, value in spec.items() if key != "attack"}


def run(model: str, data: str, out: Path, perturbations: Specs, seed: int = 0) -> list[Assessment]:
    """Attacks on one model, resumed where they were left; towards a goal they are a study of their own."""
    asked = {"models": [model], "data": [data], "perturbations": perturbations, "seed": seed, "eps": "8/255"}
    kept = {"keep_images": True, "plugins": [PLUGIN], "numerics": {"batch_size": 4}}
    return [assess(study) for study in studies([evaluate({**asked, **kept}, out, RunOptions()).folder])]


def lowest(judged: list[Assessment]) -> dict[str, np.ndarray]:
    """The lowest score of every image over all candidates."""
    return {
        figure: np.min([score(one.worst[figure].counts) for one in judged], axis=0) for figure, score in SCORES.items()
    }


def passes(judged: list[Assessment]) -> int:
    """Forwards and backwards of all attacks."""
    return sum(sum(outcome.rows.passes()) for one in judged for outcome in one.study.outcomes)


def gaps(model: str, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What each effort takes away from the battery's figures, in points."""
    out = given.out / model.replace(":", "-").replace("/", "-") / given.battery
    data = f"{given.data}?count={given.images}"
    own = run(model, data, out / "itself", specs(given.battery))
    floor = everything = lowest(own)
    shares = {figure: metrics.get(figure)(own[0].worst[figure].counts) for figure in SCORES}
    print(f"{model}, {given.images} images of {given.data}, linf 8/255, battery {given.battery}, {passes(own)} passes")
    print(f"  {'':12}accuracy {100 * shares['accuracy']:6.2f}   NmIoU {100 * shares['nmiou']:6.2f}", flush=True)
    for effort in given.efforts.split(","):
        judged = [
            one
            for number, (asked, seed) in enumerate(EFFORTS[effort](given.battery, out / "itself"))
            for one in run(model, data, out / f"{effort}-{number}", asked, seed)
        ]
        found = lowest(judged)
        everything = {figure: np.minimum(everything[figure], found[figure]) for figure in SCORES}
        yield told(effort, floor, {figure: np.minimum(floor[figure], found[figure]) for figure in SCORES}, judged)
    yield told("all", floor, everything, [])


def told(
    effort: str, floor: dict[str, np.ndarray], lower: dict[str, np.ndarray], judged: list[Assessment]
) -> dict[str, Any]:
    """One line, printed and as data."""
    apart = {f"{figure}_gap": float(100 * (floor[figure] - lower[figure]).mean()) for figure in SCORES}
    line = {"effort": effort, **apart, "passes": passes(judged)}
    print(
        f"  {effort:12}lowered by {apart['accuracy_gap']:5.2f}            {apart['nmiou_gap']:5.2f} points"
        f"   {line['passes']} passes",
        flush=True,
    )
    return line


def main() -> None:
    """Print every gap."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=24)
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--data", default="shapes:test")
    parser.add_argument("--battery", default="strong")
    parser.add_argument("--efforts", default=",".join(EFFORTS))
    parser.add_argument("--out", type=Path, default=Path("runs/bench-convergence"))
    parser.add_argument("--store", action="store_true", help="write the gaps to the package, where reports read them")
    given = parser.parse_args()
    lines = [
        {
            "battery": given.battery,
            "version": battery(given.battery).version,
            "model": model,
            "data": given.data,
            "images": given.images,
            "threat": "linf 8/255",
            **line,
        }
        for model in given.models.split(",")
        for line in gaps(f"compact:{model}" if ":" not in model else model, given)
    ]
    if given.store:
        store(lines)


def store(lines: list[dict[str, Any]]) -> None:
    """Put the lines in the place of what is stored of the same models and the same version of the battery."""
    before = json.loads(STORED.read_text()) if STORED.exists() else []
    new = {(line["battery"], line["version"], line["model"]) for line in lines}
    kept = [line for line in before if (line["battery"], line["version"], line["model"]) not in new]
    STORED.write_text(json.dumps(kept + lines, indent=1) + "\n")


if __name__ == "__main__":
    main()
