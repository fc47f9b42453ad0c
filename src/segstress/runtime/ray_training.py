"""Training on Ray: actors that are to each other what torchrun's processes are, so that either goes on with a state.

Ray Train would bring pandas and tensorboardX, and a loop and checkpoints of its own; a few variables are all that
torch.distributed asks for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from ..core import BadInput
from .elsewhere import Seat, pack, reach_token, read_files
from .ray_cluster import Cluster, Died, dismiss, fetch, first_ready, send

ATTEMPTS = 3  # times that processes may die before training is left to the next command
PATIENCE = 300.0  # seconds until all must be ready: there is room, and torch is imported
GRACE = 10.0  # seconds until the death of a process is known, after others have lost it
LOOK = 0.5  # seconds between two looks at what the first process tells


class Training(Protocol):
    """Work that all processes do together, in a folder that all of them reach."""

    @property
    def folder(self) -> Path:
        """Where states and models are written."""

    def __call__(self, tell: Callable[[Any], None]) -> Any:
        """Train; tell how it goes."""


def train_together(
    cluster: Cluster,
    work: Training,
    hear: Callable[[Any], None],
    warn: Callable[[str], None],
    files: tuple[Path, ...] = (),
) -> Any:
    """Return what the first process does; where one dies, all begin again from the last state."""
    cluster.connect()
    with reach_token(work.folder) as token:
        sent_along = send(pack(work, cluster.threads, token)), send(read_files(files) if cluster.address else {})
        for _ in range(ATTEMPTS):
            seats = [cluster.hire(Seat, calls=2) for _ in range(cluster.room())]
            try:
                return _follow(seats, _begin(cluster, seats, sent_along), hear)
            except Died as error:
                warn(f"{error}: all processes begin again from the last state")
            finally:
                for seat in seats:
                    dismiss(seat)
    raise BadInput(f"processes died {ATTEMPTS} times; the same command goes on from the last state")


def _begin(cluster: Cluster, seats: list[Any], sent_along: tuple[Any, Any]) -> list[Any]:
    """Let all begin once there is room for every one; return the references to their answers."""
    addresses = [seat.address.remote() for seat in seats]
    for reference in addresses:
        if not first_ready([reference], PATIENCE):
            raise cluster.no_room(PATIENCE)
    host, port = fetch(addresses[0])
    variables = {
        "TORCHELASTIC_RUN_ID": "ray",
        "MASTER_ADDR": host,
        "MASTER_PORT": str(port),
        "WORLD_SIZE": str(len(seats)),
    }
    return [
        seat.work.remote(*sent_along, {**variables, "RANK": str(rank), "LOCAL_RANK": str(0 if cluster.gpus else rank)})
        for rank, seat in enumerate(seats)
    ]


def _follow(seats: list[Any], running: list[Any], hear: Callable[[Any], None]) -> Any:
    """Hear what the first process tells until all are done."""
    waiting = list(running)
    while waiting:
        for reference in first_ready(waiting, LOOK):
            _check(reference, running)
            waiting.remove(reference)
        for news in fetch(seats[0].news.remote()):
            hear(news)
    return fetch(running[0])


def _check(reference: Any, running: list[Any]) -> None:
    """Raise what went wrong in a process; where it only lost another one, that one's death."""
    try:
        fetch(reference)
    except RuntimeError:
        for other in running:
            if first_ready([other], GRACE):
                with suppress(RuntimeError):
                    fetch(other)
        raise
