"""Decisions on paper: one line for each, flushed to the disk before anyone is told that it is saved."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any


class DecisionLog:
    """An append-only file of JSON lines; a line that a crash cut short is left out, and never joined to the next."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one line for good."""
        line = json.dumps(dict(row)).encode() + b"\n"
        with self._lock:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                if self._cut_short(handle):
                    line = b"\n" + line
                os.write(handle, line)
                os.fsync(handle)
            finally:
                os.close(handle)

    def rows(self) -> list[dict[str, Any]]:
        """Every whole line, in order."""
        if not self.path.exists():
            return []
        entries = []
        for line in self.path.read_bytes().split(b"\n"):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                entries.append(row)
        return entries

    def standing(self) -> list[dict[str, Any]]:
        """Every decision that its person has not taken back, in order; a line that came twice counts once."""
        decisions: dict[tuple[Any, Any], dict[str, Any]] = {}
        for row in self.rows():
            if row.get("undo"):
                decisions.pop((row.get("rater"), row["undo"]), None)
            else:
                decisions.setdefault((row.get("rater"), row.get("id")), row)
        return list(decisions.values())

    @staticmethod
    def _cut_short(handle: int) -> bool:
        size = os.lseek(handle, 0, os.SEEK_END)
        return size > 0 and os.pread(handle, 1, size - 1) != b"\n"
