"""A bracket on the radius, each ball climbed from the delta of the one before, beside the annealed border.

Command: python bench/bracket.py [--models ...] [--images 4] [--rounds 3,5,8]. Validation images, linf, 99 %, 200
forwards each; sizes times 255, and the geometric mean of the ratios to annealed-border-plain where both succeed.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import torch
from torch import Tensor

import segstress
from segstress.attacks import Problem, View, attacks
from segstress.attacks.losses.annealed import FIRST, LAST, expected_error
from segstress.attacks.minimal.deciding import DecidingError
from segstress.attacks.search.polish import polish
from segstress.core import Batch, Threat
from segstress.data import load as load_data
from segstress.data import stack

STEPS = 178  # with the looks at both ends and the polish 200 forwards
BEGIN, GROWTH = 16 / 255, 1.5  # first radius, and the factor while one end is unknown
SHARP = 30.0  # first sharpness of the budget attack's climbs that begin with an earlier delta


def bracket(problem: Problem, rounds: int, kind: str) -> Tensor:
    """Climb in one ball after the other, the next between the smallest that was broken and the largest that was not."""
    allowed, delta, deciding = problem.feasible, problem.start(False), DecidingError(problem.threat.enough)
    radius = delta.new_full((len(delta),), BEGIN)
    low, high = torch.zeros_like(radius), torch.full_like(radius, math.inf)
    for number in range(rounds):
        warm = kind == "deciding" or number > 0

        def budget(view: View, first: float = SHARP if warm else FIRST) -> Tensor:
            return expected_error(view, first, LAST)

        mean, won = torch.zeros_like(delta), torch.zeros_like(radius, dtype=torch.bool)
        for step in range(STEPS // rounds):
            progress = step / (STEPS // rounds)
            look = problem.look(delta, deciding if kind == "deciding" else budget, progress)
            won |= look.success
            gradient = allowed.along(look.gradient)
            mean = mean.lerp(gradient, 0.5)
            fade = (1 + math.cos(math.pi * progress)) / 2
            length = radius * (0.01 + ((0.5 if warm else 4.0) - 0.01) * fade)
            delta = delta + length[:, None, None, None] * mean.lerp(gradient, 0.5).sign()
            delta = allowed.project(delta, radius)
        high, low = torch.where(won, high.minimum(radius), high), torch.where(won, low, low.maximum(radius))
        between = torch.where(low == 0, radius / GROWTH, (low * high).sqrt())
        radius = torch.where(high.isinf(), GROWTH * radius, between)
        delta = allowed.project(delta, radius)
    return delta


def sizes(model: str, batch: Batch, run: Callable[[Problem], Tensor]) -> Tensor:
    """The smallest sizes for 99 %, polished; NaN where an image was not broken."""
    problem = Problem(segstress.load_model(model), batch, Threat(radius=math.inf), seeks="smallness")
    with torch.no_grad():
        problem.peek(run(problem))
        polish(problem)
    found = next(iter(problem.smallest.values()))
    return torch.where(found.success, 255 * problem.feasible.size(found.delta), torch.nan)


def main() -> None:
    """Print the sizes of every way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="cnn-pgd-at-100,transformer-pgd-at-100")
    parser.add_argument("--images", type=int, default=4)
    parser.add_argument("--rounds", default="3,5,8")
    given = parser.parse_args()
    torch.set_num_threads(1)
    data = load_data(f"shapes:val?count={given.images}")
    batch = stack([data.read(id_) for id_ in data.ids()])
    for name in given.models.split(","):
        border = sizes(f"compact:{name}", batch, attacks.build(f"annealed-border-plain?steps={STEPS}").run)
        print(f"{name}\n  annealed-border-plain {[round(size, 2) for size in border.tolist()]}")
        for rounds in map(int, given.rounds.split(",")):
            for kind in ("deciding", "budget"):
                found = sizes(f"compact:{name}", batch, lambda problem: bracket(problem, rounds, kind))  # noqa: B023
                ratio = float((found / border).log().nanmean().exp())
                print(f"  {rounds} balls, {kind:9} {[round(size, 2) for size in found.tolist()]} ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
