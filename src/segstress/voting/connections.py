"""Connections that end: one on which no whole request arrives in time is closed, however its bytes trickle in."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0  # seconds between two looks at a connection


class Brief(H11Protocol):
    """Uvicorn's protocol, which by itself waits for the first request for ever."""

    patience = PATIENCE

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look."""
        super().connection_made(transport)
        self._last: Any = None
        self.loop.call_later(self.patience, self._look)

    def _look(self) -> None:
        """Close a connection that rests on the request it rested on the last time."""
        if self.transport.is_closing():
            return
        rests = self.cycle is None or self.cycle.response_complete
        if rests and self.cycle is self._last:
            self.transport.close()
        else:
            self._last = self.cycle
            self.loop.call_later(self.patience, self._look)
