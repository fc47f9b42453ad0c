"""What was tried to lower `strong` at the same passes and is no part of it, beside its two annealed attacks.

Command: python bench/tried.py [--ways as-it-is,chain-back,...] [--models ...] [--first 0] [--images 8]. Validation
images, linf 8/255, 510 steps an image in all; prints image accuracy and NmIoU of every model, and their means.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

import segstress
from segstress.attacks import Problem, View
from segstress.attacks.losses.annealed import FIRST, LAST, expected_error, soft_miou
from segstress.core import Threat
from segstress.data import load as load_data
from segstress.data import stack

MODELS = "cnn-pgd-at-100,cnn-segpgd-at-100,transformer-pgd-at-100"
ERROR, IOU = 330, 180  # steps of strong
WARM = {"first": 30.0, "longest": 0.5}  # of climbs that begin with the best so far
MIDDLE = {"first": 5.0, "longest": 2.0}  # of chains


class Climb:
    """The steps of `momentum` on one annealed figure, with what may be changed in them."""

    def __init__(self, figure: str, first: float = FIRST, longest: float = 4.0) -> None:
        self.figure, self.first, self.longest = figure, first, longest
        self.wrong = torch.empty(0)  # pixels won at the last look

    def loss(self, view: View) -> Tensor:
        """The figure from its first sharpness on."""
        self.wrong = ~view.remaining
        error = self.figure == "error"
        return expected_error(view, self.first, LAST) if error else -soft_miou(view, self.first, LAST)

    def run(
        self,
        problem: Problem,
        delta: Tensor,
        steps: int,
        watch: Callable[[float, Tensor], None] = lambda progress, delta: None,
        direct: Callable[[Tensor, Tensor, int], Tensor] = lambda ahead, gradient, step: ahead.sign(),
    ) -> Tensor:
        """As Momentum.climb; `watch` sees every iterate, `direct` makes the direction of a step."""
        allowed, radius, mean = problem.feasible, problem.threat.radius, torch.zeros_like(delta)
        for step in range(steps):
            progress = step / steps
            gradient = allowed.along(problem.look(delta, self.loss, progress).gradient)
            watch(progress, delta)
            mean = mean.lerp(gradient, 0.5)
            fade = (1 + math.cos(math.pi * progress)) / 2
            length = radius * (0.01 + (self.longest - 0.01) * fade)
            delta = allowed.project(delta + length * direct(mean.lerp(gradient, 0.5), gradient, step), radius)
        problem.peek(delta)
        return delta


def as_it_is(problem: Problem) -> None:
    """Both from noise."""
    Climb("error").run(problem, problem.start(True), ERROR)
    Climb("iou").run(problem, problem.start(True), IOU)


def chain(problem: Problem) -> None:
    """The mIoU from the best of the error, at a middle temperature."""
    Climb("error").run(problem, problem.start(True), ERROR)
    Climb("iou", **MIDDLE).run(problem, problem.trackers["miou"].delta, IOU)


def chain_back(problem: Problem) -> None:
    """The error from the best of the mIoU, at a middle temperature."""
    Climb("iou").run(problem, problem.start(True), IOU)
    Climb("error", **MIDDLE).run(problem, problem.trackers["accuracy"].delta, ERROR)


def reheat(problem: Problem) -> None:
    """Shorter runs, then short ones from the best so far, warm again."""
    Climb("error").run(problem, problem.start(True), ERROR - 120)
    for _ in range(2):
        Climb("error", **WARM).run(problem, problem.trackers["accuracy"].delta, 60)
    Climb("iou").run(problem, problem.start(True), IOU - 60)
    Climb("iou", **WARM).run(problem, problem.trackers["miou"].delta, 60)


def tail(problem: Problem) -> None:
    """The mean of the last fifth of the iterates is looked at too."""
    for figure, steps in (("error", ERROR), ("iou", IOU)):
        late: list[Tensor] = []
        Climb(figure).run(
            problem, problem.start(True), steps, lambda t, d, late=late: late.append(d) if t > 0.8 else None
        )
        problem.peek(torch.stack(late).mean(0))


def adam(problem: Problem) -> None:
    """Steps by a running second moment, at most as long as those of the sign."""
    for figure, steps in (("error", ERROR), ("iou", IOU)):
        second = torch.zeros_like(problem.batch.images)

        def direct(ahead: Tensor, gradient: Tensor, step: int, second: Tensor = second) -> Tensor:
            second.lerp_(gradient.square(), 0.01)
            return (ahead / (second / (1 - 0.99 ** (step + 1))).sqrt().clamp(min=1e-3)).clamp(-1, 1)

        Climb(figure).run(problem, problem.start(True), steps, direct=direct)


def stitch(problem: Problem) -> None:
    """Two shorter runs of the error, place by place the better of both, and a warm climb from there."""
    found = []
    for start in ("start-0", "start-1"):
        climb = Climb("error")
        delta = climb.run(problem, problem.start(True, start), (ERROR - 60) // 2)
        found.append((delta, climb))
        problem.look(delta, climb.loss, 1.0, slope=False)
    for size in (9, 17, 33):
        one, other = (_around(climb.wrong, size) for _, climb in found)
        problem.peek(torch.where((one >= other)[:, None], found[0][0], found[1][0]))
    Climb("error", **WARM).run(problem, problem.trackers["accuracy"].delta, 60)
    Climb("iou").run(problem, problem.start(True), IOU)


def best_places(problem: Problem) -> None:
    """Place by place the best iterate of the last two fifths, and a warm climb from the best."""
    climb, best = Climb("error"), []

    def watch(progress: float, delta: Tensor) -> None:
        now = _around(climb.wrong, 17)
        if progress >= 0.6:
            score, kept = best.pop() if best else (now, delta)
            best.append((now.maximum(score), torch.where((now > score)[:, None], delta, kept)))

    climb.run(problem, problem.start(True), ERROR - 60, watch)
    problem.peek(best[0][1])
    Climb("error", **WARM).run(problem, problem.trackers["accuracy"].delta, 60)
    Climb("iou").run(problem, problem.start(True), IOU)


def _around(wrong: Tensor, size: int) -> Tensor:
    """The share of wrong pixels near each."""
    return functional.avg_pool2d(wrong[:, None].float(), size, 1, size // 2, count_include_pad=False)[:, 0]


WAYS = {
    "as-it-is": as_it_is,
    "chain": chain,
    "chain-back": chain_back,
    "reheat": reheat,
    "tail": tail,
    "adam": adam,
    "stitch": stitch,
    "best-places": best_places,
}


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--first", type=int, default=0, help="place of the first validation image")
    parser.add_argument("--images", type=int, default=8)
    given = parser.parse_args()
    torch.set_num_threads(1)
    data = load_data(f"shapes:val?count={given.first + given.images}")
    batch = stack([data.read(id_) for id_ in data.ids()[given.first :]])
    for way in given.ways.split(","):
        left = []
        for name in given.models.split(","):
            problem = Problem(segstress.load_model(f"compact:{name}"), batch, Threat(radius="8/255"))
            with torch.no_grad():
                WAYS[way](problem)
            right = problem.trackers["accuracy"].score / problem.aimed
            left.append(100 * torch.stack([right.mean(), problem.trackers["miou"].score.mean()]))
        figures = [*left, torch.stack(left).mean(0)]
        words = "  ".join(f"{accuracy:5.2f} / {miou:5.2f}" for accuracy, miou in figures)
        print(f"{way:12} {words}   {int((problem.forwards + problem.backwards).max())} passes", flush=True)


if __name__ == "__main__":
    main()
