"""Which unit goes to whom next: those that come back first, then new ones, then what waits for somebody slow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .elsewhere import Greeting


@dataclass(eq=False)
class Handout:
    """A unit under way."""

    unit: Any
    deaths: int = 0  # of workers that had it in hand
    number: int = 0  # among all that its worker was handed
    asked_back: bool = False


@dataclass(eq=False)
class Hired:
    """An actor with the units that it was handed, the one in hand first."""

    actor: Any
    greeting: Greeting | None = None  # until there is room for it
    tasks: dict[Any, Handout] = field(default_factory=dict)
    handed: int = 0  # units so far

    def hand(self, task: Handout, inputs: dict[str, bytes]) -> Any:
        """Hand over a unit; return the reference to its answer."""
        self.handed += 1
        task.number, task.asked_back = self.handed, False
        reference = self.actor.answer.remote(task.number, task.unit, inputs)
        self.tasks[reference] = task
        return reference


class Handouts:
    """Units that are to be handed out."""

    def __init__(self, units: Iterable[Any]) -> None:
        self._new = iter(units)
        self._again: deque[Handout] = deque()
        self.exhausted = False

    def give_back(self, task: Handout) -> None:
        """Let a unit be handed out again, first of all."""
        self._again.append(task)
        self.exhausted = False

    def take(self) -> Handout | None:
        """Return the next unit; nothing where none is left."""
        task = self._again.popleft() if self._again else next((Handout(unit) for unit in self._new), None)
        self.exhausted = task is None
        return task


def waiting(members: Iterable[Hired]) -> tuple[Hired, Any] | None:
    """Return a worker and the reference to a unit that waits for it and was not asked back yet."""
    for member in members:
        for reference in list(member.tasks)[1:]:
            if not member.tasks[reference].asked_back:
                return member, reference
    return None
