"""What Ray is asked for: reach a cluster or start one here, hire actors, send and fetch, notice who died."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import OutOfMemoryError, RayError, RayTaskError

from ..core import BadInput
from ..core.system import cores


class Died(Exception):
    """A worker, its machine or what it had answered is gone; says why, in the same words each time."""


@dataclass(frozen=True)
class Cluster:
    """Where actors live, and what each of them needs."""

    workers: int = 0  # 0 = as many as there is room for
    threads: int = 1  # of each worker
    address: str = ""  # nothing = Ray is started on this machine
    gpus: float = 0.0  # set apart for each worker

    def connect(self) -> None:
        """Reach the cluster, or start Ray here; quietly, and with SIGTERM left to the command line."""
        if ray.is_initialized():
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        address = self.address or os.environ.get("RAY_ADDRESS", "")
        here: dict[str, Any] = {"num_cpus": (self.workers or cores()) * self.threads, "include_dashboard": False}
        before = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **({} if address else here))
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            what = f"no Ray cluster was reached at '{address}'" if address else "Ray could not be started here"
            raise BadInput(f"{what}: {reason}; try ray start --head, or leave --executor out") from error
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, before)

    def room(self) -> int:
        """Tell how many workers were asked for, or how many the cluster has room for."""
        there = ray.cluster_resources()
        rooms = [there.get("CPU", 1) // self.threads, *([there.get("GPU", 0) // self.gpus] if self.gpus else ())]
        return self.workers or max(1, int(min(rooms)))

    def hire(self, station: type) -> Any:
        """Return a new actor, which begins as soon as there is room."""
        return ray.remote(station).options(num_cpus=self.threads, num_gpus=self.gpus).remote()

    def no_room(self, seconds: float) -> BadInput:
        """Return what is to be said when nobody found room for so long."""
        there = ray.cluster_resources()
        room = ", ".join(f"{there.get(name, 0):g} {name}" for name in ("CPU", "GPU"))
        return BadInput(
            f"no worker was ready after {seconds:.0f} s: each needs {self.threads} CPU and {self.gpus:g} GPU, "
            f"and there are {room} in all; ask for less, or add machines"
        )


def send(value: Any) -> Any:
    """Lay something where all workers reach it; return the reference."""
    return ray.put(value)


def first_ready(references: Iterable[Any], seconds: float) -> list[Any]:
    """Wait until one of the references has an answer; nothing where none has after so long."""
    ready, _ = ray.wait(list(references), timeout=seconds)
    return ready


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
