"""What a long job shows: a bar with the time left on a terminal, plain lines elsewhere.

An evaluation counts passes: its cells differ by a factor of a thousand, and answers would tell nothing of the time.
Images that are spared take none of theirs, so the time left is an upper bound."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ..runtime import Progress as Watcher
from .console import duration, show_line

EVERY = 10.0  # seconds between plain lines


@contextmanager
def watch(console: Console, what: str) -> Iterator[Watcher]:
    """Yield a watcher that draws on the console."""

    def warn(message: str) -> None:
        show_line("warning:", message, "yellow", console)

    if not console.is_terminal:
        lines = _Lines(console, what)
        yield Watcher(begin=lines.begin, advance=lines.advance, warn=warn)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(what, total=None)
        yield Watcher(
            begin=lambda total, words="", unit="images": bar.reset(
                task, total=total, description=_joined(what, words if unit == "images" else unit)
            ),
            advance=lambda number, words="": bar.update(task, advance=number, description=_joined(what, words)),
            warn=warn,
        )


def _joined(what: str, words: str) -> str:
    return f"{what}: {words}" if words else what


class _Lines:
    """Now and then a line with the share done and the time left."""

    def __init__(self, console: Console, what: str) -> None:
        self.console, self.what = console, what
        self.total = self.done = 0
        self.unit = ""
        self.started = self.said = time.monotonic()

    def begin(self, total: int, words: str = "", unit: str = "images") -> None:
        self.total, self.done = total, 0  # a job may have several stages
        self.started = self.said = time.monotonic()
        extent = f"{words}, at most {total:,} passes" if words else f"{total} {unit}"
        self.unit = " passes" if words else ""
        self.console.print(f"{self.what}: {extent}", soft_wrap=True)

    def advance(self, number: int, words: str = "") -> None:
        self.done += number
        now = time.monotonic()
        if now - self.said >= EVERY:
            left = (now - self.started) / self.done * (self.total - self.done)
            done = f"{self.done}/{self.total}{self.unit}" + (f" ({words})" if words else "")
            self.console.print(f"{self.what}: {done}, about {duration(left)} left", soft_wrap=True)
            self.said = now
