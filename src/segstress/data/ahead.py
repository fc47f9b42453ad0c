"""Images decoded in a thread while a device is at work on earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

T = TypeVar("T")  # what a dataset reads

DEPTH = 8  # images that wait at most


@contextmanager
def read_ahead(read: Callable[[str], T], ids: Sequence[str], depth: int = DEPTH) -> Iterator[Callable[[str], T]]:
    """Read images in their order, at most `depth` before they are asked for; each is read once and kept.

    One thread reads, so a dataset need not know of threads; it must not draw from the global generators."""
    waiting, begun = iter(ids), dict[str, Future[T]]()
    with ThreadPoolExecutor(1) as pool:

        def begin(number: int) -> None:
            for id_ in islice(waiting, number):
                begun[id_] = pool.submit(read, id_)

        def ask(id_: str) -> T:
            if id_ not in begun:
                begun[id_] = pool.submit(read, id_)
            begin(1)
            return begun[id_].result()

        begin(depth)
        yield ask
        pool.shutdown(cancel_futures=True)
