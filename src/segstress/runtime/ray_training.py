"""Training on Ray Train: its workers are to each other what torchrun's are, so either goes on with a state."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import ray
from ray.exceptions import RayError
from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError, UserCallback
from ray.train.torch import TorchConfig, TorchTrainer
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ..core import BadInput
from ..core.files import HOST
from .elsewhere import pack, reach_token, read_files, unpack
from .launch import leads
from .noticeboard import Noticeboard, reason_of
from .ray_cluster import Cluster, fetch, send

ATTEMPTS = 3  # times that processes may die before training is left to the next command
PATIENCE = 300.0  # seconds until all must be ready: there is room, and torch is imported
LOSS = ("health check", "gloo/transport", "NCCL")  # in what Ray Train and torch say where a process is gone
LOOK = 0.5  # seconds between two looks at what is told


class Training(Protocol):
    """Work that all processes do together, in a folder that all of them reach."""

    @property
    def folder(self) -> Path:
        """Where states and models are written."""

    @property
    def device(self) -> str:
        """On what each process computes: cpu, cuda."""

    def __call__(self, tell: Callable[[Any], None]) -> Any:
        """Train; tell how it goes."""


class PinFailures(UserCallback):
    """Let the driver hear of every failure; Ray Train's controller calls it."""

    def __init__(self, board: Any) -> None:
        self.board = board

    def after_exception(self, run_context: Any, worker_exceptions: Mapping[int, Exception]) -> None:
        """Pin that processes failed."""
        reasons = [reason_of(error) for error in worker_exceptions.values() if not _lost(error)]
        reason = reasons[0] if reasons else "a process died"
        self.board.pin.remote("failed", reason)


def _lost(error: Exception) -> bool:
    """Tell whether a process is gone, or another one has missed it."""
    return isinstance(error, RayError) or any(words in str(error) for words in LOSS)


def work_together(given: Mapping[str, Any]) -> None:
    """Do as one of torchrun's processes would: Ray Train has set their variables and joined the processes."""
    os.environ["TORCHELASTIC_RUN_ID"] = "ray"
    board = given["board"]
    board.pin.remote("begun")
    try:
        work = unpack(given["luggage"], ray.get(given["files"]))
        folder: Path = work.folder  # type: ignore[attr-defined]
        if not (folder / given["luggage"].token).exists():
            raise BadInput(f"{HOST} does not reach {folder}; processes that train together need one folder")
        made = work(lambda news: board.pin.remote("news", news))
    except BadInput as error:  # another attempt would end the same
        ray.get(board.pin.remote("refused", error))
        raise
    if leads():
        ray.get(board.pin.remote("made", made))


def train_together(
    cluster: Cluster,
    work: Training,
    hear: Callable[[Any], None],
    warn: Callable[[str], None],
    files: tuple[Path, ...] = (),
) -> Any:
    """Return what the first process does; where one dies, all begin again from the last state."""
    cluster.connect()
    cluster.check_room(cluster.room())
    with reach_token(work.folder) as token:
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        board = ray.remote(Noticeboard).options(num_cpus=0, scheduling_strategy=here).remote()
        needs = {"CPU": cluster.threads, **({"GPU": cluster.gpus} if cluster.gpus else {})}
        reached = work.folder / token
        notes = reached.with_name(reached.name.replace("reached", "ray-train"))  # its own, of no use afterwards
        trainer = TorchTrainer(
            work_together,
            train_loop_config={
                "luggage": pack(work, cluster.threads, token),
                "files": send({} if cluster.is_here() else read_files(files)),
                "board": board,
            },
            scaling_config=ScalingConfig(
                num_workers=cluster.room(), use_gpu=cluster.gpus > 0, resources_per_worker=needs
            ),
            torch_config=TorchConfig(backend="nccl" if work.device.startswith("cuda") else "gloo"),
            run_config=RunConfig(
                name=notes.name,
                storage_path=str(work.folder.absolute()),
                failure_config=FailureConfig(max_failures=ATTEMPTS - 1),
                callbacks=[PinFailures(board)],  # type: ignore[list-item]  # stubs are of Ray Train 1
            ),
        )
        try:
            return Fit(trainer, cluster, board, hear, warn, reached).made()
        finally:
            shutil.rmtree(notes, ignore_errors=True)


class Fit:
    """A fit of Ray Train in a thread, followed by what its processes pin."""

    def __init__(
        self,
        trainer: TorchTrainer,
        cluster: Cluster,
        board: Any,
        hear: Callable[[Any], None],
        warn: Callable[[str], None],
        reached: Path,
    ) -> None:
        self.trainer, self.cluster, self.board, self.hear, self.warn = trainer, cluster, board, hear, warn
        self.reached = reached  # by which processes see whether they reach the folder
        self.waiting_since: float | None = time.monotonic()  # until a process has begun
        self.failures, self.reason = 0, ""
        self.error: Exception | None = None  # with which Ray Train ended
        self.answers: list[Any] = []  # of the first process, once it is done

    def made(self) -> Any:
        """Return what the first process made."""
        thread = threading.Thread(target=self._fit, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(LOOK)
                self._read()
            self._read()  # what was pinned last
        except BaseException:
            ray.shutdown()  # ends controller and processes; nothing else does
            raise
        if self.answers:
            return self.answers[0]
        if self.error is not None and not isinstance(self.error, TrainingFailedError | RayError):
            raise self.error
        what = f"processes failed {self.failures} times" if self.failures else "processes could not be started"
        raise BadInput(f"{what} ({self.reason or self._cause()}); the same command goes on from the last state")

    def _fit(self) -> None:
        try:
            self.trainer.fit()
        except Exception as error:  # noqa: BLE001 - raised again in the driver's thread
            self.error = error

    def _cause(self) -> str:
        """Say why Ray Train ended where no process told."""
        failure = getattr(self.error, "controller_failure", self.error)
        return "Ray Train ended without a word" if failure is None else reason_of(failure)

    def _read(self) -> None:
        """Take up what was pinned."""
        for kind, news in fetch(self.board.read.remote()):
            match kind:
                case "begun":
                    self.waiting_since = None
                case "news":
                    self.hear(news)
                case "made":
                    self.answers.append(news)
                case "failed":
                    self._count(news)
                case "refused":
                    raise news
        if self.waiting_since is not None and time.monotonic() - self.waiting_since > PATIENCE:
            raise self.cluster.no_room(PATIENCE)

    def _count(self, reason: str) -> None:
        """Take note of a failure, after which Ray Train begins again."""
        self.failures += 1
        self.reached.touch()  # lest it be swept away as old by the first process, which may be on another machine
        self.waiting_since, self.reason = time.monotonic(), reason
        if self.failures < ATTEMPTS:
            self.warn(f"{reason}: all processes begin again from the last state")
