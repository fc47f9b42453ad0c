"""A run at an address (`s3://bucket/mine`): worked on in a folder of this machine that is kept alike.

The address follows in an order that leaves a whole run there at every moment: a seal or manifest that no longer holds
goes first, then come the files, then those that say that others are whole, and what was replaced goes last.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path

from ..core import BadInput
from ..core.files import write
from ..core.live import LivePath, Unreachable
from .leases import Leases
from .publishing import is_apart, rank

TRIES = 5  # looks at an address from which others take files away
WHOLE = 1  # highest rank of files that are no manifest and no seal

Stamp = tuple[int, int, int]  # size, time and number of a file: another when it was written anew


class Mirror:
    """A folder of this machine, and the address that it is kept alike with."""

    def __init__(self, address: LivePath, home: Path) -> None:
        self.address, self.folder = address, home / address.name
        self.fault: Exception | None = None  # why the address no longer follows
        self._state, self._owner = home / "known.json", home / "owner"
        self._known: dict[str, tuple[str, Stamp]] = {}  # files at the address: their version, and their stamp here
        self._left: dict[str, Stamp] | None = {}  # what an earlier process could not send: only a holder sends it
        self._leases: Leases | None = None
        self._lock = threading.Lock()
        try:
            plain = json.loads(self._state.read_text())
            self._known = {name: (version, tuple(stamp)) for name, (version, stamp) in plain.items()}
        except (OSError, ValueError):
            shutil.rmtree(self.folder, ignore_errors=True)  # nobody can say what it is
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pull()
        self._left = {name: stamp for name, stamp in self._here().items() if self._stamp(name) != stamp}

    def succeed(self, leases: Leases) -> None:
        """Come after the process that had this folder before: it is gone, whatever its last sign of life says."""
        if self._owner.exists():
            leases.bury(self._owner.read_text())
        write(self._owner, leases.owner.encode())

    @contextmanager
    def held(self, leases: Leases) -> Iterator[None]:
        """Send all that was done here, as long as these leases hold the address."""
        self._leases, self._left = leases, None
        self.pull()
        try:
            yield
        finally:
            if self.fault is None:
                self.push()
            self._leases = None

    def pull(self) -> None:
        """Fetch what is new at the address; what is gone there goes here too, unless it was changed meanwhile."""
        with self._lock:
            for left in reversed(range(TRIES)):
                try:
                    self._pull()
                    return
                except FileNotFoundError:  # another process has joined shards to larger ones
                    if not left:
                        raise BadInput(f"{self.address} changes faster than it can be fetched; try again") from None

    def push(self) -> None:
        """Let the address follow the folder; once it could not, never again, lest it follow half of the way."""
        with self._lock:
            try:
                if self._leases and self._leases.sole and self._leases.lapsed:
                    raise BadInput(
                        f"{self.address}: this process gave no sign of life for so long that another may have gone on; "
                        "run the same command again"
                    )
                while self.fault is None and not self._push():
                    pass
            except Exception as error:
                self.fault = error
                raise

    def in_words(self, error: BadInput) -> BadInput:
        """Return an error of the folder as one of the address."""
        text = str(error).replace(str(self.folder), str(self.address))
        if isinstance(error, Unreachable):
            text += f"; what is finished is kept in {self.folder}, and the same command goes on from there"
        return type(error)(text)

    def _pull(self) -> None:
        there = {name: version for name, version in self.address.versions().items() if not is_apart(name)}
        here = self._here()
        for name in self._known.keys() - there.keys():
            _, stamp = self._known.pop(name)
            if here.get(name) == stamp:
                (self.folder / name).unlink(missing_ok=True)
        new = [name for name in there if name not in here or self._known.get(name, ("",))[0] != there[name]]
        for names in _ranked(new):
            self.address.fetch(names, self.folder)
            self._known |= {name: (there[name], _stamp(self.folder / name)) for name in names}
        self._save()

    def _push(self) -> bool:
        """Send what is new and remove what is gone; whether nothing vanished meanwhile."""
        before, here = self._here(), self._here()  # what was gone before the second look was replaced by what that sees
        unseen = sorted(self._known.keys() - here.keys(), key=rank)
        gone = [name for name in unseen if name not in before or rank(name) > WHOLE]
        if gone and not (self._state.exists() and here):
            raise BadInput(f"{self.folder} was emptied while {self.address} followed it; run the same command again")
        left = self._left or {}
        new = [name for name, stamp in here.items() if stamp not in (self._stamp(name), left.get(name))]
        try:
            self._remove(name for name in reversed(gone) if rank(name) > WHOLE)
            for names in _ranked(new):
                versions = self.address.send(names, self.folder)
                self._known |= {name: (versions[name], here[name]) for name in names}
            self._remove(name for name in gone if rank(name) <= WHOLE)
        except FileNotFoundError as error:
            if all((self.folder / name).exists() for name in new):
                raise BadInput(f"{self.address} cannot be written: {error}") from error
            return False
        finally:
            if new or gone:
                self._save()
        return True

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            (self.address / name).unlink(missing_ok=True)
            del self._known[name]

    def _here(self) -> dict[str, Stamp]:
        """Return the files of the folder. Those of the last rank are looked for first: what they speak of is there."""
        files: dict[str, Stamp] = {}
        for wanted in (3, 2, 1, 0):
            for folder, _, names in os.walk(self.folder, onerror=_refuse):
                for path in (Path(folder) / name for name in names if rank(name) == wanted):
                    name = path.relative_to(self.folder).as_posix()
                    if not is_apart(name):
                        with suppress(FileNotFoundError):
                            files[name] = _stamp(path)
        return files

    def _stamp(self, name: str) -> Stamp | None:
        return self._known[name][1] if name in self._known else None

    def _save(self) -> None:
        write(self._state, json.dumps(self._known).encode())


def _ranked(names: Iterable[str]) -> Iterator[list[str]]:
    for _, group in groupby(sorted(names, key=rank), key=rank):
        yield list(group)


def _refuse(error: OSError) -> None:
    """Refuse a folder that cannot be read, lest its files count as gone; what was removed meanwhile is."""
    if not isinstance(error, FileNotFoundError):
        raise BadInput(f"{error.filename} cannot be read: {error.strerror}; run the same command again") from error


def _stamp(path: Path) -> Stamp:
    facts = path.stat()
    return facts.st_size, facts.st_mtime_ns, facts.st_ino
