"""Images decoded in threads while a model is at work on earlier ones, and what it found put away beside it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from ..core import BadImage, BadInput

T = TypeVar("T")

AHEAD = 2  # blocks that are decoded, or put away, at most beside the one in hand


def read_blocks(
    read: Callable[[str], T], blocks: Sequence[Sequence[str]], readers: int = 1
) -> Iterator[dict[str, T | str]]:
    """Yield blocks of images in their order, each by name; what is wrong with one that cannot be read, in its place.

    So many threads read at once; a block is forgotten here once it is handed over."""
    with ThreadPoolExecutor(readers) as pool:
        begun: deque[dict[str, Future[T | str]]] = deque()
        try:
            for index in range(len(blocks)):
                while len(begun) <= AHEAD and index + len(begun) < len(blocks):
                    begun.append({name: pool.submit(_or_fault, read, name) for name in blocks[index + len(begun)]})
                yield {name: future.result() for name, future in begun.popleft().items()}
        finally:
            pool.shutdown(cancel_futures=True)


def fault_of(error: Exception) -> str:
    """Return what went wrong with an image, in a line; what speaks against the whole request is raised again."""
    if isinstance(error, BadInput) and not isinstance(error, BadImage):
        raise error
    return (str(error) or type(error).__name__).splitlines()[0]


@contextmanager
def put_behind(put: Callable[[T], None]) -> Iterator[Callable[[T], None]]:
    """Put results away in a thread, one after the other in their order; the first that fails ends the work."""
    waiting: deque[Future[None]] = deque()
    with ThreadPoolExecutor(1) as pool:

        def hand_over(result: T) -> None:
            while len(waiting) > AHEAD:
                waiting.popleft().result()
            waiting.append(pool.submit(put, result))

        try:
            yield hand_over
            for future in waiting:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _or_fault(read: Callable[[str], T], name: str) -> T | str:
    try:
        return read(name)
    except Exception as error:  # noqa: BLE001 - `fault_of` raises again what is not the image's own
        return fault_of(error)
