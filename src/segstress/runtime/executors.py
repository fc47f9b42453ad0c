"""Where work runs, chosen by name: processes of this machine, or actors of a Ray cluster, behind one `map`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..core import BadInput
from ..core.system import check_device, has_device, is_device
from .local_executor import Local
from .options import RunOptions

if TYPE_CHECKING:
    from .ray_cluster import Cluster

U = TypeVar("U")
R = TypeVar("R")


class Executor(Protocol):
    """Whoever answers units of work; which worker does, and when, changes no answer.

    `work` travels to the workers. It may have a `folder` in which it writes, `inputs(unit)`, the files of that folder
    which it reads, a `device` on which it computes, and `give_up(unit, reason)`, the answer where workers died of a
    unit again and again."""

    def map(self, work: Callable[[U], R], units: Iterable[U]) -> Iterator[R]:
        """Yield answers in the order in which they are ready; units are asked for as workers become free."""


def start_local(run_options: RunOptions, threads: int, warn: Callable[[str], None], files: Sequence[Path]) -> Executor:
    """Return worker processes, which find files where they are and warn on the terminal themselves."""
    return Local(run_options.workers, threads)


def start_ray(run_options: RunOptions, threads: int, warn: Callable[[str], None], files: Sequence[Path]) -> Executor:
    """Return Ray actors."""
    cluster = ray_cluster(run_options, threads)
    from .ray_executor import Ray

    return Ray(cluster, warn, tuple(files))


def ray_cluster(run_options: RunOptions, threads: int) -> Cluster:
    """Return where Ray's actors live; Ray is an extra, and is imported only where it is asked for."""
    with needing_ray():
        from .ray_cluster import Cluster
    return Cluster(run_options.workers, threads, run_options.ray_address, run_options.gpus_per_worker)


@contextmanager
def needing_ray() -> Iterator[None]:
    """Say in one line what is missing where Ray, or Ray Train, cannot be imported."""
    try:
        yield
    except ImportError as error:
        reason = str(error).splitlines()[0]
        raise BadInput(
            f"--executor ray: Ray cannot be imported ({reason}); pip install 'segstress[ray]', or leave --executor out"
        ) from error


def start_executor(
    run_options: RunOptions, threads: int, warn: Callable[[str], None], files: Sequence[Path] = ()
) -> Executor:
    """Return the executor that was asked for; `files` are those that workers elsewhere need beside the data."""
    start = start_ray if run_options.executor == "ray" else start_local
    return start(run_options, threads, warn, files)


def prepare(run_options: RunOptions, device: str) -> str:
    """Refuse what cannot be had before models are loaded: a cluster, a device. Return the device on which to look.

    Workers of Ray may have a device that this machine lacks; then models are looked at on the processor here."""
    if run_options.executor == "ray":
        ray_cluster(run_options, 1).knock()
        if is_device(device) and not has_device(device):
            return "cpu"
    check_device(device)
    return device
