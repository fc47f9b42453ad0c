"""How a run is carried out, and what it says while it goes on; none of it changes a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core import BadInput

EXECUTORS = ("local", "ray")


@dataclass(frozen=True)
class RunOptions:
    """How a run is carried out; none of it changes a result."""

    workers: int = 0  # 0 = one for each core
    shard_size: int = 0  # images written at a time, rounded up to whole batches; 0 = as bytes and time allow
    retry_errors: bool = False
    other_numerics: bool = False  # go on although the run was begun with other numerics
    executor: str = "local"  # or ray
    ray_address: str = ""  # of a cluster, or auto; nothing = Ray is started on this machine
    gpus_per_worker: float = 0.0  # that Ray sets apart for each worker
    part: str = ""  # such as 2/8: one of several processes that share the folder; nothing = the only one

    def __post_init__(self) -> None:
        """Refuse an executor that nobody knows, and options that the one asked for would not heed."""
        if self.executor not in EXECUTORS:
            raise BadInput(f"unknown executor '{self.executor}'; expected {' or '.join(EXECUTORS)}")
        of_ray = {"--ray-address": self.ray_address, "--gpus-per-worker": self.gpus_per_worker}
        unheeded = " and ".join(name for name, value in of_ray.items() if value)
        if unheeded and self.executor != "ray":
            raise BadInput(f"{unheeded}: only Ray heeds that, found executor {self.executor}; add --executor ray")


@dataclass
class Progress:
    """What a run tells about itself; the command line draws it."""

    begin: Callable[..., None] = lambda total, words="", unit="images": None  # or passes, and what for
    advance: Callable[..., None] = lambda number, words="": None  # so many of them are done, and what they were
    warn: Callable[[str], None] = lambda message: None
