"""What processes that train together let their driver hear."""

from __future__ import annotations

from collections import deque
from typing import Any


class Noticeboard:
    """An actor on which processes pin what the driver is to hear."""

    def __init__(self) -> None:
        self.unread: deque[tuple[str, Any]] = deque()

    def pin(self, kind: str, news: Any = None) -> None:
        """Add a note."""
        self.unread.append((kind, news))

    def read(self) -> list[tuple[str, Any]]:
        """Return what was pinned since the last time."""
        return [self.unread.popleft() for _ in range(len(self.unread))]


def reason_of(error: BaseException) -> str:
    """Say in one line what went wrong."""
    return ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
