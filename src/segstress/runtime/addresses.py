"""Commands at an address: each has a mirror of its own, which the address follows until the command ends.

Whoever writes, worker processes too, knows only the mirror's folder. A thread looks every few seconds for what is new
in it, or gone. What is at the address is fetched when a command begins, and where processes share a run whenever one
looks for what others have done.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from ..core import BadInput, digest
from ..core.live import LivePath
from ..core.system import cache_folder, hold
from .holding import LEASES
from .leases import EXPIRY, SOLE, Leases
from .mirror import Mirror

EVERY = 5.0  # seconds between two looks at what is new in the folder
EASE = 10  # times as long as a look took is waited until the next, at least
_active: dict[Path, Mirror] = {}


def mirror_of(folder: Path) -> Mirror | None:
    """Return the mirror that a folder is of, if it is of one."""
    return _active.get(folder)


@contextmanager
def mirrored(text: str) -> Iterator[Path]:
    """Yield a folder of this machine that is what lies at an address, and let the address follow it."""
    address = LivePath(text)
    if not address.parts[1:]:
        raise BadInput(f"{address}: expected the address of a run, such as s3://bucket/mine")
    with _own_home(address) as home:
        mirror = Mirror(address, home)
        _active[mirror.folder] = mirror
        try:
            with _followed(mirror):
                yield mirror.folder
        except BadInput as error:
            raise mirror.in_words(error) from error
        finally:
            del _active[mirror.folder]


@contextmanager
def _own_home(address: LivePath) -> Iterator[Path]:
    """Yield the first of the address's folders in the user's cache that no other process uses."""
    for number in count():
        home = cache_folder() / "runs" / f"{digest(str(address))}-{number}"
        try:
            home.mkdir(parents=True, exist_ok=True)
            handle = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise BadInput(
                f"cannot write to {home}: {error.strerror}; set XDG_CACHE_HOME to a folder with room"
            ) from error
        try:
            if hold(handle):
                yield home
                return
        finally:
            os.close(handle)


@contextmanager
def _followed(mirror: Mirror) -> Iterator[None]:
    """Let the address follow meanwhile, and at the end; where it cannot, this thread is interrupted, if it may be."""
    ended, before = threading.Event(), signal.getsignal(signal.SIGUSR1)
    main = threading.current_thread() is threading.main_thread() and before is not None  # None: of a library in C
    if main:
        signal.signal(signal.SIGUSR1, signal.default_int_handler)
    thread = threading.Thread(target=_follow, args=(mirror, ended, main), daemon=True)
    thread.start()
    try:
        try:
            yield
        finally:
            ended.set()
            thread.join()
            if mirror.fault is None:
                mirror.push()
    except KeyboardInterrupt:
        if mirror.fault is None:
            raise
    finally:
        if main:
            signal.signal(signal.SIGUSR1, before)
    if mirror.fault is not None:
        raise mirror.fault


def _follow(mirror: Mirror, ended: threading.Event, main: bool) -> None:
    pause = EVERY
    while not ended.wait(pause):
        began = time.monotonic()
        try:
            mirror.push()
        except Exception:  # noqa: BLE001 - the mirror keeps it, and whoever is interrupted raises it
            if main:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            return
        pause = max(EVERY, EASE * (time.monotonic() - began))


@contextmanager
def held(mirror: Mirror, *, sole: bool) -> Iterator[Leases]:
    """Hold an address. Whoever comes shows a sign of life and then looks for others', so that two never both go on."""
    leases = Leases(mirror.address / LEASES, sole=sole)
    if not sole and not (mirror.address / LEASES / f"trial-{leases.owner}").creates_alone():
        raise BadInput(
            f"--part: the file system of {mirror.address} does not let one of several create a file; leave --part out, "
            "or give each part an --out of its own and join them by segstress merge"
        )
    mirror.succeed(leases)
    with leases.beating():
        others = [owner for owner in leases.others() if sole or owner.startswith(SOLE)]
        if others:
            raise BadInput(
                f"{mirror.address} is in use by another segstress process ({others[0]}); wait for it, or, if it was "
                f"killed, {EXPIRY:.0f} s, or choose another --out"
            )
        with mirror.held(leases):
            yield leases
