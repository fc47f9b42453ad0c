"""Work that kills its worker, and a slow network, for the tests of executors; workers import it, too."""

from __future__ import annotations

import os
import signal
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from tests.nets import Tiny

from segstress.core import BadInput
from segstress.core.files import write


class Slow(Tiny):
    """Leaves time to be interrupted, and takes none of the processor's."""

    def forward(self, images):
        time.sleep(0.03)
        return super().forward(images)


def slow() -> Slow:
    return Slow()


@dataclass(frozen=True)
class Doubling:
    """Doubles a number and writes it down; what becomes of the worker is in its settings."""

    folder: Path
    deadly: int = -1  # the number of which workers die
    deaths: int = 0  # so many of them; each leaves a mark beside the folder
    refused: int = -1

    def __call__(self, number: int) -> int:
        """Double."""
        if number == self.deadly and self._mark():
            os.kill(os.getpid(), signal.SIGKILL)
        if number == self.refused:
            raise BadInput(f"{number} cannot be doubled")
        if number == 3:
            warnings.warn("three is odd", stacklevel=1)
        write(self.folder / "doubled" / f"{number}.txt", str(2 * number).encode())
        return 2 * number

    def give_up(self, number: int, reason: str) -> int:
        """Say so by a negative number."""
        write(self.folder / "lost.txt", reason.encode())
        return -number

    def _mark(self) -> bool:
        """Leave a mark; tell whether there were fewer than the deaths asked for."""
        marks = self.folder.parent / "deaths"
        marks.mkdir(exist_ok=True)
        before = len(list(marks.iterdir()))
        (marks / str(before)).touch()
        return before < self.deaths


@dataclass(frozen=True)
class Sleeping:
    """Returns a number, one of them late; notes which it has begun."""

    folder: Path
    slow: int
    seconds: float

    def __call__(self, number: int) -> int:
        """Note, sleep, return."""
        self.folder.mkdir(exist_ok=True)
        with (self.folder / "begun.txt").open("a") as file:
            file.write(f"{number}\n")
        time.sleep(self.seconds if number == self.slow else 0.05)
        return number


@dataclass(frozen=True)
class Adding:
    """Adds what an earlier step wrote about a number; reads and writes in a run's folder."""

    folder: Path

    def __call__(self, number: int) -> int:
        """Read, add one."""
        return int((self.folder / "doubled" / f"{number}.txt").read_text()) + 1

    def inputs(self, number: int) -> list[Path]:
        """Return the file that it reads."""
        return [self.folder / "doubled" / f"{number}.txt"]


def refuse_unpacking() -> None:
    raise BadInput("it cannot be unpacked")


class Unpackable:
    """Work that a worker cannot unpack."""

    def __reduce__(self):
        return refuse_unpacking, ()

    def __call__(self, number: int) -> int:
        """Never comes so far."""
        return number
