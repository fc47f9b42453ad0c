"""Where work runs on one machine: in this process, or in worker processes that it starts."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from itertools import islice
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from operator import length_hint
from typing import Any, TypeVar

import torch

from ..core import BadInput
from ..core.system import cores

U = TypeVar("U")
R = TypeVar("R")
DEPTH = 2  # units that a worker has in hand or waiting, so that it never waits for the next one
_packed = b""  # the work of a worker process, as it was handed over
RERUN = 86  # exit code of a worker that would have run its parent's script all over again


@dataclass(frozen=True)
class Local:
    """Processes of this machine, each with its own share of threads; one worker works in this process."""

    workers: int = 0  # 0 = one for each core
    threads: int = 1  # of each worker; part of the numerics

    def map(self, work: Callable[[U], R], units: Iterable[U]) -> Iterator[R]:
        """Yield answers in the order in which they are ready; units are asked for as workers become free."""
        workers = self.workers or cores()
        workers = min(workers, length_hint(units, workers))
        if workers <= 1:
            torch.set_num_threads(self.threads)
            yield from map(work, units)
            return
        context = multiprocessing.get_context("spawn")
        given = self.threads, pickle.dumps(work)
        with ProcessPoolExecutor(workers, context, _prepare, given) as pool:
            children: list[BaseProcess] = []
            try:
                yield from _windowed(pool, units, DEPTH * workers, children)
            except BrokenProcessPool as error:
                pool.shutdown()  # until exit codes are known
                if any(child.exitcode == RERUN for child in children):
                    raise BadInput(
                        "worker processes import the script that starts them, and it would start them again: put its "
                        'calls below `if __name__ == "__main__":`, or leave workers out'
                    ) from None
                raise BadInput(
                    "a worker process died (out of memory?); what is finished is kept: "
                    "run the same command again, perhaps with fewer --workers"
                ) from error
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for child in multiprocessing.active_children():
                    child.terminate()
                raise


def _windowed(pool: ProcessPoolExecutor, units: Iterable[U], width: int, children: list[BaseProcess]) -> Iterator[Any]:
    """Keep a few units in flight, however many there are; note the processes that the pool has started."""
    waiting = iter(units)
    flying: set[Future[Any]] = set()
    while True:
        flying |= {pool.submit(_answer, unit) for unit in islice(waiting, width - len(flying))}
        if not flying:
            return
        children += () if children else multiprocessing.active_children()
        done, flying = wait(flying, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


def refuse_rerun() -> None:
    """End a worker that imports its parent's script and comes upon the call by which it was started."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # as multiprocessing itself tells
        raise SystemExit(RERUN)


def _prepare(threads: int, packed: bytes) -> None:
    """Take over the work, leave Ctrl-C to the parent, and do not outlive it."""
    global _packed
    _packed = packed
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(threads)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _answer(unit: Any) -> Any:
    """Do a unit of the work that this process was given."""
    return _work()(unit)


@cache
def _work() -> Callable[[Any], Any]:
    """Unpack the work with the first unit, so that what goes wrong is told as any fault of a unit."""
    work: Callable[[Any], Any] = pickle.loads(_packed)
    return work


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
