"""What a long job shows: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ..runtime import Progress as Watcher

EVERY = 10.0  # seconds between plain lines


@contextmanager
def watch(console: Console, what: str) -> Iterator[Watcher]:
    """A watcher that draws on the console."""

    def warn(message: str) -> None:
        console.print(f"[yellow]warning:[/yellow] {message}", highlight=False, soft_wrap=True)

    if not console.is_terminal:
        lines = _Lines(console, what)
        yield Watcher(begin=lines.begin, advance=lines.advance, warn=warn)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(what, total=None)
        yield Watcher(
            begin=lambda total: bar.reset(task, total=total),
            advance=lambda images: bar.advance(task, images),
            warn=warn,
        )


class _Lines:
    """Now and then a line with the share done and the time left."""

    def __init__(self, console: Console, what: str) -> None:
        self.console, self.what = console, what
        self.total = self.done = 0
        self.started = self.said = time.monotonic()

    def begin(self, total: int) -> None:
        self.total, self.done = total, 0  # a job may have several stages
        self.started = self.said = time.monotonic()
        self.console.print(f"{self.what}: {total} images to answer", highlight=False)

    def advance(self, images: int) -> None:
        self.done += images
        now = time.monotonic()
        if now - self.said >= EVERY:
            left = (now - self.started) / self.done * (self.total - self.done)
            self.console.print(f"{self.what}: {self.done}/{self.total}, about {left:.0f} s left", highlight=False)
            self.said = now
