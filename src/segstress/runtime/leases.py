"""Who has what in hand, told by files: processes on whatever machines share work without a lock of the system.

All that is asked of the file system, or of the object store, is that of several who create a file one succeeds (O_EXCL,
If-None-Match). A process touches its heartbeat now and then; what it had in hand when that has stopped is taken over
under the next number, so that two who see the same dead owner cannot both succeed. Ages are differences of heartbeats,
so clocks may differ."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from itertools import count
from pathlib import Path

from ..core import BadInput
from ..core.files import HOST
from ..core.live import LivePath
from .exclusive import create, modified
from .turns import begin_turn, clear_up

BEAT = 10.0  # seconds between two signs of life
EXPIRY = 120.0  # seconds without one after which a process counts as dead
POLL = 0.5  # seconds between two looks at what others do
REMOTE_POLL = 2.0  # the same at an address, where a look is a request
SOLE = "sole-"  # begins the name of a process that shares with nobody


class LeaseState(Enum):
    """What came of asking for a name."""

    MINE = "mine"
    HELD = "held"  # by somebody alive
    DONE = "done"


class Leases:
    """Names that this process and others hold in a folder."""

    def __init__(self, folder: Path, *, sole: bool = False) -> None:
        self.folder, self.sole = folder, sole
        self.owner = f"{SOLE if sole else ''}{HOST}-{os.getpid()}-{secrets.token_hex(4)}"
        self.poll = REMOTE_POLL if isinstance(folder, LivePath) else POLL
        self._lapsed = False
        self._last = time.time()  # when this process has last shown a sign of life
        self._mine: dict[str, Path] = {}
        self._ended = threading.Event()

    @property
    def lapsed(self) -> bool:
        """Whether others may have taken this process for dead, be it that it has only now woken up."""
        return self._lapsed or time.time() - self._last > EXPIRY  # that clock goes on while a machine sleeps

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Show that this process is alive."""
        try:
            self._beat()
        except OSError as error:
            reason = error.strerror or error
            raise BadInput(f"cannot write to {self.folder}: {reason}; make room or choose another --out") from error
        thread = threading.Thread(target=self._keep_beating, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()
            self.leave()

    def leave(self) -> None:
        """Take back the sign of life; whoever leaves last clears up."""
        there = list(self.folder.glob("*"))
        if not self._alive(there):
            if self.sole:  # whoever comes now is turned away, as long as the sign of life is there
                self.remove(path.name for path in there)
            elif turn := begin_turn(self):
                clear_up(self, turn)
        self._heart(self.owner).unlink(missing_ok=True)
        with suppress(OSError):  # it was never made, or others are there
            self.folder.rmdir()

    def others(self) -> list[str]:
        """Return the other processes here that are alive."""
        return self._alive(self.folder.glob("alive-*"))

    def soles(self) -> list[str]:
        """Return the other processes here, alive or not, that share with nobody."""
        owners = (path.name.removeprefix("alive-") for path in self.folder.glob(f"alive-{SOLE}*"))
        return [owner for owner in owners if owner != self.owner]

    @staticmethod
    def is_here(owner: str) -> bool:
        """Tell whether a process is, or was, one of this machine."""
        return owner.removeprefix(SOLE).rsplit("-", 2)[0] == HOST

    def bury(self, owner: str) -> None:
        """Take back the sign of life of a process that is known to be dead."""
        self._heart(owner).unlink(missing_ok=True)

    def vouch(self, owner: str) -> None:
        """Show the sign of life of a process that is known to be alive."""
        self._heart(owner).touch()

    def _alive(self, there: Iterable[Path]) -> list[str]:
        owners = [path.name.removeprefix("alive-") for path in there if path.name.startswith("alive-")]
        others = [owner for owner in owners if owner != self.owner]
        if others:
            self._beat()  # ages are told by this process's own sign of life
        return [owner for owner in others if self.is_alive(owner)]

    def claim(self, name: str) -> LeaseState:
        """Take a name that nobody alive holds and that is not done."""
        for number in count():
            path = self._path(f"{name}.{number}")
            if self._path(f"{name}.done").exists():
                return LeaseState.DONE
            if create(path, self.owner.encode()):
                if self._path(f"{name}.done").exists():  # its owner was done between the two looks
                    return LeaseState.DONE
                self._mine[name] = path
                return LeaseState.MINE
            if self._is_held(path):
                return LeaseState.HELD
        raise AssertionError("unreachable")

    def finish(self, name: str) -> None:
        """Mark a name that this process holds as done."""
        create(self._path(f"{name}.done"), self.owner.encode())
        self.release(name)

    def take(self, name: str) -> bool:
        """Claim a name; whether this process holds it now."""
        return self.claim(name) is LeaseState.MINE

    def release(self, name: str) -> None:
        """Give back a name that this process holds, not done."""
        self._mine.pop(name).unlink(missing_ok=True)

    def claim_of(self, name: str) -> str:
        """Return the file by which this process holds a name."""
        return self._mine[name].name

    def done(self) -> set[str]:
        """Return the names that somebody has finished."""
        return {path.name.removesuffix(".done") for path in self.folder.glob("*.done")}

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Do something one after another: all others wait, or take over from one that died."""
        while not (turn := begin_turn(self)):
            time.sleep(self.poll)
        try:
            yield
        finally:
            self.finish(turn)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files of the folder, but for the own sign of life."""
        for name in names:
            if self._path(name) != self._heart(self.owner):
                self._path(name).unlink(missing_ok=True)

    def is_alive(self, owner: str) -> bool:
        """Tell whether a process has shown a sign of life lately, by the clock that dates the files."""
        try:
            age = modified(self._heart(self.owner)) - modified(self._heart(owner))
        except OSError:  # it has left, or this process has
            return False
        return age < EXPIRY

    def _is_held(self, path: Path) -> bool:
        try:
            owner = path.read_text()
            fresh = modified(self._heart(self.owner)) - modified(path) < EXPIRY
        except OSError:  # it was finished meanwhile
            return True
        return fresh if not owner else self.is_alive(owner)  # for a moment it is there and has no owner yet

    def _path(self, name: str) -> Path:
        return self.folder / name

    def _heart(self, owner: str) -> Path:
        return self.folder / f"alive-{owner}"

    def _keep_beating(self) -> None:
        while not self._ended.wait(BEAT):
            with suppress(OSError, BadInput):  # a moment without the file server, or the store, is no death
                self._beat()

    def _beat(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        began = time.time()
        self._heart(self.owner).touch()
        self._lapsed, self._last = self.lapsed, began
