"""A simulated cluster against the ideal: workers of unequal speed that straggle, die and are taken away.

Command: python bench/cluster.py [--workers 256] [--units 20000] [--seconds 60] [--seed 0]. Time is simulated, so the
figures are of the rule by which units are handed out (one in hand and one waiting, which an idle worker gets when
no other is left; a dead worker's units first of all), not of a machine. The ideal is all work divided by all workers.
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
        done = Simulation(times, speeds, case, given.seed).run()
        quarter = Simulation(np.repeat(times / 4, 4), speeds, case, given.seed).run()
        ratios = f"{done.seconds / ideal:.3f} | {quarter.seconds / ideal:.3f}"
        print(f"| {case.name} | {ratios} | {done.cuts:,} | {done.twice / times.sum():.2%} |")


def draw(units: int, seconds: float, case: Conditions, seed: int) -> np.ndarray:
    """Return how long each unit takes on an ordinary worker."""
    noise = np.random.default_rng(seed).normal(size=units)
    return seconds * np.exp(case.spread * noise - case.spread**2 / 2)


@dataclass(eq=False)
class Worker:
    """A worker with what it was handed: seconds of work on an ordinary one."""

    speed: float
    going: float  # when it dies or is taken away
    here: bool = False  # ready for work
    hand: float | None = None
    begun: float = 0.0
    waiting: float | None = None
    turn: int = 0  # counts what was expected of it, so that what no longer holds is known


class Simulation:
    """A job handed out as runtime/ray_executor.py does it: each worker has a unit in hand and one waiting.

    Who has nothing in hand, when no unit is left, gets what waits for another; the units of one that goes are
    handed out again, first of all."""

    def __init__(self, times: np.ndarray, speeds: np.ndarray, case: Conditions, seed: int) -> None:
        self.case, self.random = case, np.random.default_rng(seed + 1)
        self.rate = (case.death + case.preemption) / 3600
        self.todo, self.again, self.left = deque(times.tolist()), deque[float](), len(times)
        self.workers = [Worker(speed, STARTING + self._stay()) for speed in self.random.permutation(speeds)]
        self.events = [(STARTING, number, 0) for number in range(len(self.workers))]
        self.end = self.twice = 0.0
        self.cuts = 0

    def run(self) -> Outcome:
        """Let time pass until every unit is done."""
        while self.left:
            now, number, turn = heapq.heappop(self.events)
            worker = self.workers[number]
            if turn == worker.turn:
                self._happen(worker, now)
                self._hand_out(now)
        return Outcome(self.end, self.twice, self.cuts)

    def _stay(self) -> float:
        return float(self.random.exponential(1 / self.rate)) if self.rate else np.inf

    def _happen(self, worker: Worker, now: float) -> None:
        """Let a worker come, finish a unit, or go."""
        if not worker.here:
            worker.here, worker.going = True, now + self._stay()
        elif now < worker.going:
            self.left, self.end = self.left - 1, now
            worker.hand, worker.waiting, worker.begun = worker.waiting, None, now
        else:
            self._go(worker, now)
            return
        self._expect(worker)

    def _go(self, worker: Worker, now: float) -> None:
        if worker.hand is not None:
            did = (now - worker.begun) * worker.speed
            self.cuts, self.twice = self.cuts + 1, self.twice + (0.0 if self.case.resuming else did)
            self.again.append(worker.hand - did if self.case.resuming else worker.hand)
        self.again.extend([] if worker.waiting is None else [worker.waiting])
        worker.here, worker.hand, worker.waiting = False, None, None
        dead = self.random.random() < self.case.death / (self.case.death + self.case.preemption)
        self._plan(worker, now + STARTING + (0.0 if dead else RETURNING))

    def _hand_out(self, now: float) -> None:
        """Give a unit to everybody who has none in hand, then one to everybody who has none waiting."""
        for worker in self.workers:
            if worker.here and worker.hand is None:
                worker.hand, worker.begun = self._next(idle=True), now
                self._expect(worker)
        for worker in self.workers if self.again or self.todo else ():
            if worker.hand is not None and worker.waiting is None:
                worker.waiting = self._next(idle=False)

    def _next(self, *, idle: bool) -> float | None:
        if self.again or self.todo:
            return (self.again or self.todo).popleft()
        slow = next((worker for worker in self.workers if worker.waiting is not None), None) if idle else None
        if slow is None:
            return None
        unit, slow.waiting = slow.waiting, None
        return unit

    def _expect(self, worker: Worker) -> None:
        done = np.inf if worker.hand is None else worker.begun + worker.hand / worker.speed
        self._plan(worker, min(done, worker.going))

    def _plan(self, worker: Worker, when: float) -> None:
        worker.turn += 1
        if when < np.inf:
            heapq.heappush(self.events, (when, self.workers.index(worker), worker.turn))


if __name__ == "__main__":
    main()
