"""Whether this process is alone in a run's folder, or one of several parts that share its units."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from ..core import BadInput
from ..core.files import sweep
from ..core.remote import address_in
from .addresses import held, mirror_of
from .checksums import read_json, write_json
from .holding import held_here
from .leases import Leases, LeaseState
from .mirror import Mirror

FILE = "parts.json"


class Numbered(Protocol):
    """A unit that has the same number in every process that shares a run."""

    @property
    def number(self) -> int:
        """Its place among all units of its step, finished ones too."""


U = TypeVar("U", bound=Numbered)


class SoleProcess:
    """The only process in a run's folder."""

    first = True  # whether it may set right what others have left
    complete = True  # whether all units of the last step are done, by whomever
    alone = True  # whether no other process is alive in the folder

    def turn(self) -> AbstractContextManager[None]:
        """Do something that no other process does meanwhile."""
        return nullcontext()

    def join(self, question: str) -> None:
        """Agree with others on what the units are."""

    def rounds(self, step: str, find: Callable[[], Sequence[U]], *, everything: bool = False) -> Iterator[Sequence[U]]:
        """Yield the units that this process is to do, until none is left for it."""
        yield find()

    def finish(self, step: str, unit: Numbered) -> None:
        """Note that a unit is done."""

    def left_to(self) -> str:
        """Say who does the rest."""
        return "nobody"


@dataclass(frozen=True)
class PartNumber:
    """One of several processes."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> PartNumber:
        """Read `2/8`."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        part = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= part.number <= part.of:
            raise BadInput(f"--part: expected i/n with i from 1 to n, such as 2/8, found '{text}'")
        return part


class PartProcess:
    """One of several processes: it does its own share of the units first, then helps those that have begun."""

    def __init__(self, folder: Path, part: PartNumber, leases: Leases, mirror: Mirror | None = None) -> None:
        self.folder, self.part, self.leases, self.mirror = folder, part, leases, mirror
        self.first, self.complete, self.session = False, True, ""

    @property
    def alone(self) -> bool:
        """Whether no other process is alive in the folder: ask it in a turn, so that none begins meanwhile."""
        return not self.leases.others()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Do something that no other process does meanwhile."""
        with self.leases.turn():
            self._pull()
            yield
            self._push()

    def join(self, question: str) -> None:
        """Agree with those that are alive on what the units are; the first begins anew. Call it in a turn."""
        path = self.leases.folder / FILE
        plain = read_json(path) if path.exists() else {}
        members: dict[str, int] = plain.get("members", {})
        self.first = not any(map(self.leases.is_alive, members))
        if self.first:
            sweep(self.folder)
            plain = {"session": secrets.token_hex(4), "asked": question, "parts": self.part.of}
            members = {}
        elif (plain["asked"], plain["parts"]) != (question, self.part.of):
            raise BadInput(
                f"{self.folder} is shared by processes that were started with another plan, --shard-size or number of "
                "parts; start all alike, or wait for them"
            )
        self.session = plain["session"]
        write_json(path, {**plain, "members": {**members, self.leases.owner: self.part.number}})

    def rounds(self, step: str, find: Callable[[], Sequence[U]], *, everything: bool = False) -> Iterator[Iterator[U]]:
        """Yield the units that this process is to do, until none is left for it.

        Those of parts that have not begun are left to them, unless `everything` is needed before the run can go on."""
        while units := self._look(find):
            left = undone = self._undone(step, {unit.number: index for index, unit in enumerate(units)})
            while left:
                yield self._claimed(step, units, left, everything=everything)
                left, begun = self._undone(step, left), self._begun()
                if not any(everything or self._share(number) in begun for number in left):
                    break
                time.sleep(self.leases.poll)  # others have them in hand
            if len(left) == len(undone):  # nobody got on, or what is marked as done is not there
                break
        self.complete = not units

    def finish(self, step: str, unit: Numbered) -> None:
        """Note that a unit is done, once others can see what came of it."""
        self._push()
        self.leases.finish(self._name(step, unit.number))

    def absent(self) -> list[str]:
        """Return the parts that have not begun."""
        begun = self._begun()
        return [f"{number}/{self.part.of}" for number in range(1, self.part.of + 1) if number not in begun]

    def left_to(self) -> str:
        """Say who does the rest."""
        absent = self.absent()
        parts = f"parts that have not begun: {', '.join(absent[:8])}{' ...' if len(absent) > 8 else ''}"
        return f"the rest is left to {parts if absent else 'other parts'}"

    def _undone(self, step: str, places: Mapping[int, int]) -> dict[int, int]:
        """Return the numbers of units that nobody has done, with where they are among those that were missing."""
        done = self.leases.done()
        return {number: index for number, index in places.items() if self._name(step, number) not in done}

    def _look(self, find: Callable[[], Sequence[U]]) -> Sequence[U]:
        self._pull()
        return find()

    def _pull(self) -> None:
        if self.mirror is not None:
            self.mirror.pull()

    def _push(self) -> None:
        if self.mirror is not None:
            self.mirror.push()

    def _claimed(self, step: str, units: Sequence[U], left: Mapping[int, int], *, everything: bool) -> Iterator[U]:
        """Yield units as they are asked for: the own share in order, then those of others from the end."""
        own = [number for number in left if self._share(number) == self.part.number]
        for number in own:
            if self.leases.claim(self._name(step, number)) is LeaseState.MINE:
                yield units[left[number]]
        begun = self._begun() - {self.part.number}
        for number in reversed(list(left)):
            helped = self._share(number) in begun or (everything and self._share(number) != self.part.number)
            if helped and self.leases.claim(self._name(step, number)) is LeaseState.MINE:
                yield units[left[number]]

    def _share(self, number: int) -> int:
        return number % self.part.of + 1

    def _begun(self) -> set[int]:
        path = self.leases.folder / FILE
        return {self.part.number, *(read_json(path)["members"].values() if path.exists() else ())}

    def _name(self, step: str, number: int) -> str:
        return f"{self.session}-{step}-{number}"


Sharing = SoleProcess | PartProcess


@contextmanager
def share(folder: Path, part: str) -> Iterator[Sharing]:
    """Hold a run's folder, and the address that it mirrors: alone, or as one of the parts that share it."""
    number, mirror = PartNumber.read(part) if part else None, mirror_of(folder)
    if mirror is not None:
        with held(mirror, sole=number is None) as leases:
            yield PartProcess(folder, number, leases, mirror) if number else SoleProcess()
        return
    if address_in(folder):
        raise BadInput(f"{folder}: expected a folder; with segstress.runtime.mirrored(address) as folder: ...")
    with held_here(folder, sole=number is None) as leases:
        yield PartProcess(folder, number, leases) if number else SoleProcess()
