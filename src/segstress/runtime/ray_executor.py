"""Where work runs beyond one machine: long-lived Ray actors that keep their model, behind the same `map`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import length_hint
from pathlib import Path
from typing import Any, TypeVar

from ..core import BadInput
from ..core.files import write
from .elsewhere import Delivery, Greeting, Station, pack, reach_token, read_files
from .handouts import Handout, Handouts, Hired, waiting
from .numerics import record_elsewhere, surroundings
from .ray_cluster import Cluster, Died, aside, dismiss, fetch, first_ready, send

U = TypeVar("U")
R = TypeVar("R")
ATTEMPTS = 3  # times that a worker may die of a unit before it is given up
DEPTH = 2  # units that a worker has in hand or waiting, so that it never waits for the next one
PATIENCE = 300.0  # seconds until somebody must be ready: there is room, and torch is imported
GRACE = 10.0  # seconds in which an answer of a worker that died is still looked for


@dataclass(frozen=True)
class Ray:
    """Actors of a cluster, or of a Ray that is started on this machine."""

    cluster: Cluster
    warn: Callable[[str], None] = lambda message: None
    files: tuple[Path, ...] = ()  # that workers elsewhere need beside the data

    def map(self, work: Callable[[U], R], units: Iterable[U]) -> Iterator[R]:
        """Yield answers in the order in which they are ready; units are asked for as workers become free."""
        if length_hint(units, 1) == 0:
            return
        self.cluster.connect()
        workers = self.cluster.room()
        folder: Path | None = getattr(work, "folder", None)
        with reach_token(folder) as token:
            crew = Crew(self, work, folder, token)
            try:
                yield from crew.answers(units, min(workers, length_hint(units, workers)))
            finally:
                crew.dismiss()


class Crew:
    """The workers of one `map`: whoever dies is replaced, and its units are handed out again."""

    def __init__(self, executor: Ray, work: Callable[[Any], Any], folder: Path | None, token: str) -> None:
        self.cluster, self.warn, self.work, self.folder = executor.cluster, executor.warn, work, folder
        files = {} if self.cluster.is_here() else read_files(executor.files)  # here they are where they are
        self.sent_along = send(pack(work, self.cluster.threads, token)), send(files)
        self.members: list[Hired] = []
        self.pending: dict[Any, Hired] = {}  # references to what is awaited
        self.asked: dict[Any, Any] = {}  # questions whether a unit can be taken back, with the reference to its answer
        self.failed_starts = 0
        self.said: set[str] = set()

    def answers(self, units: Iterable[Any], size: int) -> Iterator[Any]:
        """Yield the answer to every unit."""
        handouts = Handouts(units)
        for _ in range(size):
            self._hire()
        while self._hand_out(handouts):
            ready = first_ready(self.pending, PATIENCE)
            if not ready and not any(member.greeting for member in self.members):
                raise self.cluster.no_room(PATIENCE)
            for reference in ready:
                if reference in self.pending:  # else its worker was buried meanwhile
                    yield from self._collect(reference, handouts)

    def dismiss(self) -> None:
        """End all workers."""
        for member in self.members:
            dismiss(member.actor)

    def _hire(self) -> None:
        member = Hired(self.cluster.hire(Station))
        self.members.append(member)
        self.pending[member.actor.greet.remote(*self.sent_along)] = member

    def _hand_out(self, handouts: Handouts) -> bool:
        """Give units to whoever has few; tell whether any has no answer yet."""
        for depth in range(1, DEPTH + 1):
            for member in self.members:
                if member.greeting and len(member.tasks) < depth:
                    task = handouts.take()
                    if task is not None:
                        self.pending[member.hand(task, self._inputs(member.greeting, task.unit))] = member
        idle = sum(bool(member.greeting) and not member.tasks for member in self.members)
        for _ in range(idle - len(self.asked)):
            self._ask_back()
        return not handouts.exhausted or any(member.tasks for member in self.members)

    def _ask_back(self) -> None:
        """Ask a worker at work on another unit for one that waits for it, so that whoever is slow keeps nobody idle."""
        if waits := waiting(self.members):
            member, reference = waits
            member.tasks[reference].asked_back = True
            question = aside(member.actor.take_back).remote(member.tasks[reference].number)
            self.pending[question], self.asked[question] = member, reference

    def _inputs(self, greeting: Greeting, unit: Any) -> dict[str, bytes]:
        """Read what a worker that does not reach the folder needs of it for a unit."""
        if greeting.shared or self.folder is None or not hasattr(self.work, "inputs"):
            return {}
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.work.inputs(unit)}

    def _collect(self, reference: Any, handouts: Handouts) -> Iterator[Any]:
        """Take what a worker has said, or take note of its death."""
        member = self.pending[reference]
        try:
            said = fetch(reference)
        except Died as error:
            yield from self._bury(member, error, handouts)
            return
        del self.pending[reference]
        if isinstance(said, Greeting):
            member.greeting, self.failed_starts = said, 0
            self._welcome(said)
        elif reference in self.asked:
            self._take_back(member, self.asked.pop(reference), handouts, agreed=said)
        else:
            del member.tasks[reference]
            yield self._accept(said)

    def _take_back(self, member: Hired, reference: Any, handouts: Handouts, *, agreed: bool) -> None:
        """Let another do what a worker had not begun when it was asked."""
        if agreed:
            del self.pending[reference]
            handouts.give_back(member.tasks.pop(reference))

    def _welcome(self, greeting: Greeting) -> None:
        """Look at where a worker is: it must have this version, and other rounding is noted."""
        ours, theirs = (machine["versions"]["segstress"] for machine in (surroundings(), greeting.surroundings))
        if ours != theirs:
            raise BadInput(f"{greeting.host} has segstress {theirs}, this machine {ours}; install the same everywhere")
        other = record_elsewhere(self.folder, greeting.surroundings) if self.folder else ""
        if other:
            self._say(f"workers on {greeting.host} may round differently ({other}); environment.json notes it")
        if not greeting.shared:
            self._say(f"{greeting.host} does not reach {self.folder}: what it finds is sent to this machine")

    def _accept(self, answer: Delivery) -> Any:
        for message in answer.warnings:
            self._say(message)
        for name, data in answer.files.items():
            write(self.folder / name, data)  # type: ignore[operator]
        return answer.answer

    def _bury(self, member: Hired, error: Died, handouts: Handouts) -> Iterator[Any]:
        """Replace a worker that died; yield what it had finished, and hand out the rest again."""
        self.members.remove(member)
        where = f" on {member.greeting.host}" if member.greeting else ""
        self.warn(f"{error}{where}: another takes its place, and its units are handed out again")
        self.pending = {reference: other for reference, other in self.pending.items() if other is not member}
        dismiss(member.actor)  # where it is only out of reach
        if not member.greeting:
            self.failed_starts += 1
            if self.failed_starts > ATTEMPTS * (len(self.members) + 1):
                raise BadInput(f"{error}, again and again while it was started; ray logs say more")
        self.asked = {question: about for question, about in self.asked.items() if question in self.pending}
        in_hand = True
        for reference, task in member.tasks.items():
            try:
                yield self._accept(fetch(reference, GRACE))
            except Died:
                task.deaths += in_hand
                in_hand = False
                if task.deaths < ATTEMPTS:
                    handouts.give_back(task)
                else:
                    yield self._give_up(task, str(error))
        self._hire()

    def _give_up(self, task: Handout, reason: str) -> Any:
        words = f"{reason} {ATTEMPTS} times while it was worked on"
        if not hasattr(self.work, "give_up"):
            raise BadInput(f"a unit of work cannot be done: {words}; what is finished is kept")
        return self.work.give_up(task.unit, words)

    def _say(self, message: str) -> None:
        if message not in self.said:
            self.said.add(message)
            self.warn(message)
