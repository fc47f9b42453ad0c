"""What Ray is asked for: reach a cluster or start one here, hire actors, send and fetch, notice who died."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import OutOfMemoryError, RayError, RayTaskError

from ..core import BadInput
from ..core.system import cores

HOST_AND_PORT = re.compile(r"(?:\[(.+)\]|([^:/]+)):(\d+)")  # else it is auto, or of Ray's own client
ASIDE = "aside"  # group of what an actor does beside its work
KNOCKING = 5.0  # seconds in which an address must answer
_started_here: set[str] = set()  # addresses of each Ray that this process has started


class Died(Exception):
    """A worker, its machine or what it had answered is gone; says why, in the same words each time."""


@dataclass(frozen=True)
class Cluster:
    """Where actors live, and what each of them needs."""

    workers: int = 0  # 0 = as many as there is room for
    threads: int = 1  # of each worker
    address: str = ""  # as it was asked for; RAY_ADDRESS is heeded, too
    gpus: float = 0.0  # set apart for each worker

    @property
    def wanted(self) -> str:
        """The address of the cluster: as asked, else by the environment; nothing = Ray is started on this machine."""
        address = self.address or os.environ.get("RAY_ADDRESS", "")
        return "" if address == "local" else address

    def knock(self) -> None:
        """Refuse an address at which nothing listens; Ray itself takes a minute to say so."""
        address = HOST_AND_PORT.fullmatch(self.wanted)
        if ray.is_initialized() or not address:
            return
        give_up = time.monotonic() + KNOCKING
        while True:
            try:
                socket.create_connection((address[1] or address[2], int(address[3])), timeout=KNOCKING).close()
                return
            except (OSError, OverflowError) as error:
                if time.monotonic() > give_up or isinstance(error, OverflowError):
                    raise self._not_reached(error) from error
            time.sleep(KNOCKING / 10)

    def connect(self) -> None:
        """Reach the cluster, or start Ray here; quietly, and with SIGTERM left to the command line."""
        if not ray.is_initialized():
            self.knock()
            self._connect()
        self.check_room()

    def _connect(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        here: dict[str, Any] = {"num_cpus": (self.workers or cores()) * self.threads, "include_dashboard": False}
        given = {} if self.wanted else here
        before = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(self.wanted or "local", log_to_driver=False, logging_level=logging.ERROR, **given)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise self._not_reached(error) from error
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, before)
        if not self.wanted:
            _started_here.add(ray.get_runtime_context().gcs_address)

    def _not_reached(self, error: Exception) -> BadInput:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        what = f"no Ray cluster was reached at '{self.wanted}'" if self.wanted else "Ray could not be started here"
        return BadInput(f"{what}: {reason}; try ray start --head, or leave --executor out")

    def is_here(self) -> bool:
        """Tell whether Ray was started here by this process, so that no worker is on another machine."""
        return ray.get_runtime_context().gcs_address in _started_here

    def room(self) -> int:
        """Tell how many workers were asked for, or how many the cluster has room for."""
        there = ray.cluster_resources()
        rooms = [there.get("CPU", 1) // self.threads, *([there.get("GPU", 0) // self.gpus] if self.gpus else ())]
        return self.workers or max(1, int(min(rooms)))

    def check_room(self, workers: int = 1) -> None:
        """Refuse workers for which there will never be room: a Ray that was started here does not grow."""
        there = ray.cluster_resources()
        needs = {"CPU": workers * self.threads, "GPU": workers * self.gpus}
        if self.is_here() and any(there.get(name, 0) < need for name, need in needs.items()):
            raise self._refusal(f"there is no room for {workers} worker{'s' * (workers > 1)} on this machine")

    def hire(self, station: type) -> Any:
        """Return a new actor, which begins as soon as there is room."""
        actor = ray.remote(concurrency_groups={ASIDE: 1})(station)  # type: ignore[call-overload]  # stubs lack it
        return actor.options(num_cpus=self.threads, num_gpus=self.gpus).remote()

    def no_room(self, seconds: float) -> BadInput:
        """Return what is to be said when nobody found room for so long."""
        return self._refusal(f"no worker was ready after {seconds:.0f} s")

    def _refusal(self, what: str) -> BadInput:
        there = ray.cluster_resources()
        room = " and ".join(f"{there.get(name, 0):g} {name}" for name in ("CPU", "GPU"))
        return BadInput(
            f"{what}: each needs {self.threads} CPU and {self.gpus:g} GPU, and there are {room} in all; "
            "ask for less, or add machines"
        )


def send(value: Any) -> Any:
    """Lay something where all workers reach it; return the reference."""
    return ray.put(value)


def first_ready(references: Iterable[Any], seconds: float) -> list[Any]:
    """Wait until one of the references has an answer; nothing where none has after so long."""
    ready, _ = ray.wait(list(references), timeout=seconds)
    return ready


def aside(method: Any) -> Any:
    """Return a method of an actor as one that is carried out beside what the actor is at work on."""
    return method.options(concurrency_group=ASIDE)


def fetch(reference: Any, seconds: float | None = None) -> Any:
    """Return an answer; what went wrong over there is raised as it was there, unless its worker died."""
    try:
        return ray.get(reference, timeout=seconds)
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        low = isinstance(error, OutOfMemoryError) or "low on memory" in str(error)
        raise Died("the worker ran out of memory" if low else "the worker died") from error


def dismiss(actor: Any) -> None:
    """End an actor."""
    ray.kill(actor)
