"""A simulated cluster against the ideal: workers of unequal speed that straggle, die and are taken away.

Command: python bench/cluster.py [--workers 256] [--units 20000] [--seconds 60] [--seed 0]. Time is simulated, so the
figures are of the rule by which units are handed out (as workers become free, a dead worker's units
handed out again first), not of a machine. The ideal is all work divided by all workers.
"""

from __future__ import annotations

import argparse
import heapq
from collections import deque
from dataclasses import dataclass

import numpy as np

STARTING = 60.0  # seconds until a worker has loaded its model
RETURNING = 300.0  # seconds until one that was taken away is back


@dataclass(frozen=True)
class Conditions:
    """What may go wrong."""

    name: str
    spread: float = 0.1  # of the logarithm of a unit's time
    slow: float = 0.0  # share of workers that take three times as long
    death: float = 0.0  # deaths of a worker in an hour
    preemption: float = 0.0  # how often in an hour one is taken away for five minutes
    resuming: bool = True  # whether a unit's finished images are kept when it is cut off, as mad predict keeps them


CASES = (
    Conditions("nothing goes wrong"),
    Conditions("units differ by a factor of two", spread=0.7),
    Conditions("a tenth of the workers is three times slower", slow=0.1),
    Conditions("a worker dies every ten hours", death=0.1),
    Conditions("each is taken away once an hour", preemption=1.0),
    Conditions("all of it", spread=0.7, slow=0.1, death=0.1, preemption=1.0),
    Conditions("all of it, cut units begin anew", spread=0.7, slow=0.1, death=0.1, preemption=1.0, resuming=False),
)


@dataclass(frozen=True)
class Outcome:
    """How a run went."""

    seconds: float
    twice: float  # seconds of work that were done again
    cuts: int  # units that were cut off


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=256)
    parser.add_argument("--units", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="of an ordinary unit")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{given.workers} workers, {given.units:,} units of {given.seconds:g} s; times as multiples of the ideal\n")
    print("| what goes wrong | of the ideal | with smaller units (a quarter) | units cut off | work done twice |")
    print("|---|---:|---:|---:|---:|")
    for case in CASES:
        times = draw(given.units, given.seconds, case, given.seed)
        speeds = np.where(np.arange(given.workers) < case.slow * given.workers, 1 / 3, 1.0)
        ideal = times.sum() / speeds.sum()
        done = simulate(times, speeds, case, given.seed)
        quarter = simulate(np.repeat(times / 4, 4), speeds, case, given.seed)
        ratios = f"{done.seconds / ideal:.3f} | {quarter.seconds / ideal:.3f}"
        print(f"| {case.name} | {ratios} | {done.cuts:,} | {done.twice / times.sum():.2%} |")


def draw(units: int, seconds: float, case: Conditions, seed: int) -> np.ndarray:
    """Return how long each unit takes on an ordinary worker."""
    noise = np.random.default_rng(seed).normal(size=units)
    return seconds * np.exp(case.spread * noise - case.spread**2 / 2)


def simulate(times: np.ndarray, speeds: np.ndarray, case: Conditions, seed: int) -> Outcome:
    """Hand out units as workers become free; a worker that goes has its units handed out again, first of all."""
    random = np.random.default_rng(seed + 1)
    todo = deque(times.tolist())
    free = [(STARTING, worker) for worker in range(len(speeds))]
    heapq.heapify(free)
    rate = (case.death + case.preemption) / 3600
    going = np.full(len(speeds), np.inf) if not rate else random.exponential(1 / rate, len(speeds))
    end = twice = 0.0
    cuts, unfinished = 0, list[tuple[float, float]]()  # cut units come back when the worker is missed
    while todo or unfinished:
        now, worker = heapq.heappop(free)
        if unfinished and (unfinished[0][0] <= now or not todo):
            begun, left = heapq.heappop(unfinished)
            now = max(now, begun)
        else:
            left = todo.popleft()
        finish = now + left / speeds[worker]
        if finish <= going[worker]:
            end = max(end, finish)
            heapq.heappush(free, (finish, worker))
            continue
        gone = max(going[worker], now)
        did = (gone - now) * speeds[worker]
        cuts, twice = cuts + 1, twice + (0.0 if case.resuming else did)
        heapq.heappush(unfinished, (gone, left - did if case.resuming else left))
        dead = random.random() < case.death / (case.death + case.preemption)
        back = gone + STARTING + (0.0 if dead else RETURNING)
        going[worker] = back + random.exponential(1 / rate)
        heapq.heappush(free, (back, worker))
    return Outcome(end, twice, cuts)


if __name__ == "__main__":
    main()
