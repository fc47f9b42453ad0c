"""Decisions on paper: one line for each, wholly on the disk before anyone is told that it is saved."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from ..core import BadInput
from ..core.files import write_all
from ..core.system import flush_folder


class NotSaved(BadInput):
    """The disk did not take a decision; nothing of it is left, and it may be sent again."""


class DecisionLog:
    """An append-only file of JSON lines; a line that a crash cut short is left out, and never joined to the next."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._rows: list[dict[str, Any]] = []
        self._read = 0  # bytes that `_rows` were read from

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one line for good, or none of it."""
        line = json.dumps(dict(row)).encode() + b"\n"
        with self._lock:
            try:
                self._append(line)
            except OSError as error:
                raise NotSaved(f"cannot write {self.path}: {error.strerror or error}; make room") from error

    def _append(self, line: bytes) -> None:
        new = not self.path.exists()
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        size = os.lseek(handle, 0, os.SEEK_END)
        try:
            write_all(handle, b"\n" + line if _cut_short(handle, size) else line)
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
        finally:
            os.close(handle)
        if new:
            flush_folder(self.path.parent)

    def rows(self) -> list[dict[str, Any]]:
        """Return every whole line, in order; only what was added since the last time is read."""
        with self._lock:
            size = self.path.stat().st_size if self.path.exists() else 0
            if size < self._read:
                self._rows, self._read = [], 0
            tail = self._go_on() if size > self._read else []
            return [*self._rows, *tail]

    def _go_on(self) -> list[dict[str, Any]]:
        """Read on; return what stands in a last line without an end, if that can be read."""
        with self.path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        *whole, tail = data.split(b"\n")
        self._rows += _parse(whole)
        self._read += len(data) - len(tail)
        return _parse([tail])

    def current(self) -> list[dict[str, Any]]:
        """Return every decision that its person has not taken back, in order; a line that came twice counts once."""
        decisions: dict[tuple[str, str], dict[str, Any]] = {}
        withdrawn = self.withdrawn()
        for row in self.rows():
            if not row.get("undo") and _key(row, "id") not in withdrawn:
                decisions.setdefault(_key(row, "id"), row)
        return list(decisions.values())

    def withdrawn(self) -> set[tuple[str, str]]:
        """Return the person and id of every decision that was taken back; it stays so if it comes again."""
        return {_key(row, "undo") for row in self.rows() if row.get("undo")}


def _key(row: Mapping[str, Any], what: str) -> tuple[str, str]:
    return str(row.get("rater")), str(row.get(what))


def _parse(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    rows = []
    for line in lines:
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return [row for row in rows if isinstance(row, dict)]


def _cut_short(handle: int, size: int) -> bool:
    return size > 0 and os.pread(handle, 1, size - 1) != b"\n"
