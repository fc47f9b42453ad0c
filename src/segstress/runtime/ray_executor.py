"""Where work runs beyond one machine: long-lived Ray actors that keep their model, behind the same `map`."""

from __future__ import annotations

import logging
import os
import pickle
import secrets
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import length_hint
from pathlib import Path
from typing import Any, TypeVar

import ray
from ray.exceptions import OutOfMemoryError, RayError, RayTaskError

from ..core import BadInput
from ..core.files import write
from ..core.system import cores
from .elsewhere import Answer, Greeting, Luggage, Station, read_files
from .numerics import record_elsewhere, surroundings

U = TypeVar("U")
R = TypeVar("R")
ATTEMPTS = 3  # times that a worker may die of a unit before it is given up
DEPTH = 2  # units that a worker has in hand or waiting, so that it never waits for the next one
PATIENCE = 60.0  # seconds until somebody must have found room in the cluster
GRACE = 10.0  # seconds in which an answer of a worker that died is still looked for


@dataclass(frozen=True)
class Ray:
    """Actors of a cluster, or of a Ray that is started on this machine."""

    workers: int = 0  # 0 = as many as there is room for
    threads: int = 1  # of each worker; part of the numerics
    address: str = ""  # nothing = Ray is started here
    gpus: float = 0.0  # set apart for each worker
    warn: Callable[[str], None] = lambda message: None
    files: tuple[Path, ...] = ()  # that workers elsewhere need beside the data

    def map(self, work: Callable[[U], R], units: Iterable[U]) -> Iterator[R]:
        """Yield answers in the order in which they are ready; units are asked for as workers become free."""
        if length_hint(units, 1) == 0:
            return
        self.connect()
        workers = self.workers or self.room()
        folder: Path | None = getattr(work, "folder", None)
        with _token(folder) as token:
            crew = Crew(self, work, folder, token)
            try:
                yield from crew.answers(units, min(workers, length_hint(units, workers)))
            finally:
                crew.dismiss()

    def connect(self) -> None:
        """Reach the cluster, or start Ray here; quietly, and with Ctrl-C and SIGTERM left to the command line."""
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
        """Tell how many workers the cluster has room for."""
        there = ray.cluster_resources()
        rooms = [there.get("CPU", 1) // self.threads, *([there.get("GPU", 0) // self.gpus] if self.gpus else ())]
        return max(1, int(min(rooms)))

    def hire(self, station: type) -> Any:
        """Return a new actor, which begins as soon as there is room."""
        return ray.remote(station).options(num_cpus=self.threads, num_gpus=self.gpus).remote()


@dataclass(eq=False)
class Task:
    """A unit under way."""

    unit: Any
    deaths: int = 0  # of workers that had it in hand


@dataclass(eq=False)
class Member:
    """An actor with the units that it was handed, the one in hand first."""

    actor: Any
    greeting: Greeting | None = None  # until there is room for it
    tasks: dict[Any, Task] = field(default_factory=dict)


class Crew:
    """The workers of one `map`: whoever dies is replaced, and its units are handed out again."""

    def __init__(self, ray_settings: Ray, work: Callable[[Any], Any], folder: Path | None, token: str) -> None:
        self.settings, self.work, self.folder = ray_settings, work, folder
        files = read_files(ray_settings.files) if ray_settings.address else {}  # here they are where they are
        luggage = Luggage(pickle.dumps(work), ray_settings.threads, str(Path.cwd()), tuple(sys.path), token)
        self.sent_along = ray.put(luggage), ray.put(files)
        self.members: list[Member] = []
        self.pending: dict[Any, Member] = {}  # references to what is awaited
        self.again: deque[Task] = deque()
        self.failed_starts, self.exhausted = 0, False
        self.said: set[str] = set()

    def answers(self, units: Iterable[Any], size: int) -> Iterator[Any]:
        """Yield the answer to every unit."""
        waiting = iter(units)
        for _ in range(size):
            self._hire()
        while self._hand_out(waiting):
            ready, _ = ray.wait(list(self.pending), timeout=PATIENCE)
            if not ready and not any(member.greeting for member in self.members):
                raise BadInput(
                    f"no worker found room in the cluster for {PATIENCE:.0f} s: each needs {self.settings.threads} CPU "
                    f"and {self.settings.gpus:g} GPU, and there are {_resources()}; ask for less, or add machines"
                )
            for reference in ready:
                if reference in self.pending:  # else its worker was buried meanwhile
                    yield from self._collect(reference)

    def dismiss(self) -> None:
        """End all workers."""
        for member in self.members:
            ray.kill(member.actor)

    def _hire(self) -> None:
        member = Member(self.settings.hire(Station))
        self.members.append(member)
        self.pending[member.actor.greet.remote(*self.sent_along)] = member

    def _hand_out(self, waiting: Iterator[Any]) -> bool:
        """Give units to whoever has few; tell whether any is left."""
        for depth in range(1, DEPTH + 1):
            for member in self.members:
                if member.greeting and len(member.tasks) < depth:
                    task = self.again.popleft() if self.again else next((Task(unit) for unit in waiting), None)
                    if task is None:
                        self.exhausted = True
                        continue
                    reference = member.actor.answer.remote(task.unit, self._inputs(member.greeting, task.unit))
                    member.tasks[reference] = task
                    self.pending[reference] = member
        return bool(self.again) or not self.exhausted or any(member.tasks for member in self.members)

    def _inputs(self, greeting: Greeting, unit: Any) -> dict[str, bytes]:
        """Read what a worker that does not reach the folder needs of it for a unit."""
        if greeting.shared or self.folder is None or not hasattr(self.work, "inputs"):
            return {}
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.work.inputs(unit)}

    def _collect(self, reference: Any) -> Iterator[Any]:
        """Take what a worker has said, or take note of its death."""
        member = self.pending[reference]
        try:
            said = ray.get(reference)
        except RayTaskError as error:
            raise error.cause from error
        except RayError as error:
            yield from self._bury(member, error)
            return
        del self.pending[reference]
        if isinstance(said, Greeting):
            member.greeting, self.failed_starts = said, 0
            self._welcome(said)
        else:
            del member.tasks[reference]
            yield self._accept(said)

    def _welcome(self, greeting: Greeting) -> None:
        """Look at where a worker is: it must have this version, and other rounding is noted."""
        ours, theirs = (each["versions"]["segstress"] for each in (surroundings(), greeting.surroundings))
        if ours != theirs:
            raise BadInput(f"{greeting.host} has segstress {theirs}, this machine {ours}; install the same everywhere")
        other = record_elsewhere(self.folder, greeting.surroundings) if self.folder else ""
        if other:
            self._say(f"workers on {greeting.host} may round differently ({other}); environment.json notes it")
        if not greeting.shared:
            self._say(f"{greeting.host} does not reach {self.folder}: what it finds is sent to this machine")

    def _accept(self, answer: Answer) -> Any:
        for message in answer.warnings:
            self._say(message)
        for name, data in answer.files.items():
            write(self.folder / name, data)  # type: ignore[operator]
        return answer.answer

    def _bury(self, member: Member, error: RayError) -> Iterator[Any]:
        """Replace a worker that died; yield what it had finished, and hand out the rest again."""
        self.members.remove(member)
        where = f" on {member.greeting.host}" if member.greeting else ""
        self.settings.warn(f"{_reason(error)}{where}: another takes its place, and its units are handed out again")
        self.pending = {reference: other for reference, other in self.pending.items() if other is not member}
        ray.kill(member.actor)  # where it is only out of reach
        if not member.greeting:
            self.failed_starts += 1
            if self.failed_starts > ATTEMPTS * (len(self.members) + 1):
                raise BadInput(f"workers die while they start: {_reason(error)} ({str(error).splitlines()[0]})")
        in_hand = True
        for reference, task in member.tasks.items():
            try:
                yield self._accept(ray.get(reference, timeout=GRACE))
            except RayError:
                task.deaths += in_hand
                in_hand = False
                if task.deaths < ATTEMPTS:
                    self.again.append(task)
                else:
                    yield self._give_up(task, _reason(error))
        self._hire()

    def _give_up(self, task: Task, reason: str) -> Any:
        words = f"{reason} {ATTEMPTS} times while it was worked on"
        if not hasattr(self.work, "give_up"):
            raise BadInput(f"a unit of work cannot be done: {words}; what is finished is kept")
        return self.work.give_up(task.unit, words)

    def _say(self, message: str) -> None:
        if message not in self.said:
            self.said.add(message)
            self.settings.warn(message)


@contextmanager
def _token(folder: Path | None) -> Iterator[str]:
    """Lay a file into a run's folder by which workers see whether they reach it."""
    if folder is None:
        yield ""
        return
    path = folder / f".reached-{secrets.token_hex(8)}"
    write(path, b"")
    try:
        yield path.name
    finally:
        path.unlink(missing_ok=True)


def _reason(error: RayError) -> str:
    """Say in the same words each time what a worker died of, as far as Ray knows."""
    if isinstance(error, OutOfMemoryError) or "low on memory" in str(error):
        return "the worker ran out of memory"
    return "the worker died"


def _resources() -> str:
    there = ray.cluster_resources()
    return ", ".join(f"{there.get(name, 0):g} {name}" for name in ("CPU", "GPU"))
