"""Which unit goes to whom next: those that come back first, then new ones, then what waits for somebody slow."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .elsewhere import Greeting


@dataclass(eq=False)
class Handout:
    """A unit under way."""

    unit: Any
    deaths: int = 0  # of workers that had it in hand
    shared: bool = False  # whether a second worker was handed it, since it waited for the first
    answered: bool = False


@dataclass(eq=False)
class Hired:
    """An actor with the units that it was handed, the one in hand first."""

    actor: Any
    greeting: Greeting | None = None  # until there is room for it
    tasks: dict[Any, Handout] = field(default_factory=dict)

    @property
    def busy(self) -> bool:
        """Whether it has a unit that nobody has answered."""
        return not all(task.answered for task in self.tasks.values())


class Handouts:
    """Units that are to be handed out."""

    def __init__(self, units: Iterable[Any]) -> None:
        self._new = iter(units)
        self._again: deque[Handout] = deque()
        self.exhausted = False

    def give_back(self, task: Handout) -> None:
        """Let a unit be handed out again, first of all."""
        task.shared = False
        self._again.append(task)
        self.exhausted = False

    def take(self) -> Handout | None:
        """Return the next unit; nothing where none is left."""
        task = self._again.popleft() if self._again else next((Handout(unit) for unit in self._new), None)
        self.exhausted = task is None
        return task


def waiting_elsewhere(members: Iterable[Hired], at_work: Callable[[Any], bool]) -> Handout | None:
    """Return a unit that waits for a worker at work on another, once: both are to do it, and the first answer counts.

    So whoever is slow keeps nobody waiting. Ray takes nothing back that an actor was handed, so some is done twice."""
    for member in members:
        for task in list(member.tasks.values())[1:]:
            if not (task.shared or task.answered) and at_work(next(iter(member.tasks))):
                task.shared = True
                return task
    return None
