"""Where work runs beyond one machine: long-lived Ray actors that keep their model, behind the same `map`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import length_hint
from pathlib import Path
from typing import Any, TypeVar

from ..core import BadInput
from ..core.files import sweep, write
from .elsewhere import Delivery, Greeting, Station, pack, reach_token, read_files
from .handouts import Handout, Handouts, Hired, waiting_elsewhere
from .numerics import record_elsewhere, surroundings
from .ray_cluster import Cluster, Died, dismiss, fetch, first_ready, is_awaited, send, wait_for_all

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
        self._cut_off()

    def dismiss(self) -> None:
        """End all workers."""
        for member in self.members:
            dismiss(member.actor)

    def _cut_off(self) -> None:
        """End workers in the middle of what others have answered, and see to it that no file of theirs comes later."""
        late = [reference for member in self.members for reference in member.tasks]
        if late:
            self.dismiss()
            wait_for_all(late, GRACE)
            if self.folder:
                sweep(self.folder)

    def _hire(self) -> None:
        member = Hired(self.cluster.hire(Station))
        self.members.append(member)
        self.pending[member.actor.greet.remote(*self.sent_along)] = member

    def _hand_out(self, handouts: Handouts) -> bool:
        """Give units to whoever has few; tell whether any has no answer yet."""
        for depth in range(1, DEPTH + 1):
            for member in self.members:
                if member.greeting and len(member.tasks) < depth:
                    task = handouts.take() or (None if member.tasks else waiting_elsewhere(self.members, is_awaited))
                    if task is not None:
                        reference = member.actor.answer.remote(task.unit, self._inputs(member.greeting, task.unit))
                        member.tasks[reference] = task
                        self.pending[reference] = member
        return not handouts.exhausted or any(member.busy for member in self.members)

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
        else:
            yield from self._accept(member.tasks.pop(reference), said)

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

    def _accept(self, task: Handout, answer: Delivery) -> Iterator[Any]:
        """Yield the answer to a unit, unless another worker has given it."""
        if task.answered:
            return
        task.answered = True
        for message in answer.warnings:
            self._say(message)
        for name, data in answer.files.items():
            write(self.folder / name, data)  # type: ignore[operator]
        yield answer.answer

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
        for number, (reference, task) in enumerate(member.tasks.items()):
            if not task.answered:
                try:
                    yield from self._accept(task, fetch(reference, GRACE))
                except Died:
                    task.deaths += number == 0
                    yield from self._hand_out_again(task, str(error), handouts)
        self._hire()

    def _hand_out_again(self, task: Handout, reason: str, handouts: Handouts) -> Iterator[Any]:
        """Let others do what a worker has left behind, unless another has it; yield the answer where too many died."""
        if task.deaths >= ATTEMPTS:
            task.answered = True
            yield self._give_up(task, reason)
        elif not any(task in other.tasks.values() for other in self.members):
            handouts.give_back(task)

    def _give_up(self, task: Handout, reason: str) -> Any:
        words = f"{reason} {ATTEMPTS} times while it was worked on"
        if not hasattr(self.work, "give_up"):
            raise BadInput(f"a unit of work cannot be done: {words}; what is finished is kept")
        return self.work.give_up(task.unit, words)

    def _say(self, message: str) -> None:
        if message not in self.said:
            self.said.add(message)
            self.warn(message)
