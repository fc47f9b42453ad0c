"""Hashes of files' bytes, worked out once: remembered in the user's cache folder until a file changes."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

from .system import cache_folder, cores

YOUNG = 2.0  # seconds: a file written just now may be written again without looking newer
FIND = "SELECT hash FROM hashes WHERE path = ? AND stamp = ?"
TABLE = "CREATE TABLE IF NOT EXISTS hashes (path BLOB PRIMARY KEY, stamp TEXT, hash TEXT)"


def file_hashes(paths: Iterable[Path]) -> dict[Path, str]:
    """Return the hash of every file's bytes; nothing but "unreadable" of one that cannot be read."""
    stamps = {path: stamp(path) for path in dict.fromkeys(paths)}
    known = _remembered(stamps)
    fresh = [path for path in stamps if path not in known]
    with ThreadPoolExecutor(min(8, 2 * cores())) as pool:  # hashing lets other threads go on
        hashes = dict(zip(fresh, pool.map(_hash, fresh), strict=True))
    settled = time.time_ns() - int(YOUNG * 1e9)
    _remember({path: (stamps[path], hashes[path]) for path in fresh if 0 < _changed(path) < settled})
    return {path: known.get(path) or hashes[path] for path in stamps}


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError:
        return "unreadable"


def stamp(path: Path) -> str:
    """Return what changes when a file does."""
    try:
        facts = path.stat()
    except OSError:
        return ""
    return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_ino}"


def _changed(path: Path) -> int:
    """Return when a file was last changed, in nanoseconds; 0 where it is gone."""
    try:
        return max(path.stat().st_mtime_ns, path.stat().st_ctime_ns)
    except OSError:
        return 0


def _remembered(stamps: dict[Path, str]) -> dict[Path, str]:
    with suppress(sqlite3.Error, OSError), closing(_open()) as memory:
        stamped = ((path, (_key(path), stamp)) for path, stamp in stamps.items())
        rows = ((path, memory.execute(FIND, words).fetchone()) for path, words in stamped)
        return {path: row[0] for path, row in rows if row}
    return {}


def _remember(hashed: dict[Path, tuple[str, str]]) -> None:
    rows = [(_key(path), *values) for path, values in hashed.items() if values[1] != "unreadable"]
    with suppress(sqlite3.Error, OSError), closing(_open()) as memory, memory:
        memory.executemany("INSERT OR REPLACE INTO hashes VALUES (?, ?, ?)", rows)


def _key(path: Path) -> bytes:
    """Return a file's path; as bytes, since not every name is text."""
    return os.fsencode(str(path.absolute()))


def _open() -> sqlite3.Connection:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    memory = sqlite3.connect(folder / "file-hashes.sqlite", timeout=10)
    memory.execute(TABLE)
    return memory
