"""What a worker on another machine needs: files under the paths that they have here, and a way to hand over its own."""

from __future__ import annotations

import os
import pickle
import secrets
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ..core import BadInput
from ..core.files import HOST, noting, temporary_name, write
from ..core.system import check_device
from .numerics import surroundings

Files = Mapping[str, bytes]  # absolute paths, or paths within a run's folder, with what they hold


def named_files(specs: Any) -> list[Path]:
    """Return the files that specs or plug-ins name, with the modules beside one of Python, which it may import."""
    files: dict[Path, None] = {}
    for text in _strings(specs):
        for name in (text, text.rpartition(":")[0]):  # `nets.py:enet` is a function of a file
            files |= dict.fromkeys(_files(name))
    return list(files)


def _strings(plain: Any) -> Iterator[str]:
    if isinstance(plain, str | os.PathLike):
        yield os.fspath(plain)
    elif isinstance(plain, Mapping):
        yield from _strings(list(plain.values()))
    elif isinstance(plain, Iterable):
        for item in plain:
            yield from _strings(item)


def _files(name: str) -> list[Path]:
    path = Path(name).absolute()
    try:
        if name and path.is_file():
            return sorted(path.parent.glob("*.py")) if path.suffix == ".py" else [path]
        if name and (path / "config.json").is_file():  # a folder that holds one model
            return sorted(filter(Path.is_file, path.iterdir()))
    except (OSError, ValueError):  # no name that a file could have
        pass
    return []


def read_files(paths: Iterable[Path]) -> dict[str, bytes]:
    """Read files, to be laid out elsewhere."""
    return {str(path): path.read_bytes() for path in paths}


def lay_out(files: Files, home: str) -> None:
    """Work in the folder of the driver, with its files under their paths; one that is there must be the same."""
    try:
        Path(home).mkdir(parents=True, exist_ok=True)
        os.chdir(home)
        for name, data in files.items():
            path = Path(name)
            if not path.exists():
                write(path, data)
            elif path.read_bytes() != data:
                raise BadInput(f"{HOST} has another {path} than the machine that started the run; make them equal")
    except OSError as error:
        raise BadInput(f"{HOST} cannot hold the files of the run: {error}; use folders that it can write") from error


@dataclass(frozen=True)
class Luggage:
    """What a worker is sent off with."""

    work: bytes  # pickled: it may need what is laid out first
    threads: int
    home: str  # folder in which the driver works
    search: tuple[str, ...]  # where the driver looks for modules
    token: str = ""  # file by which it sees whether it reaches the run's folder


def pack(work: Callable[..., Any], threads: int, token: str) -> Luggage:
    """Return what a worker needs to do as this process would."""
    return Luggage(pickle.dumps(work), threads, str(Path.cwd()), tuple(sys.path), token)


@contextmanager
def reach_token(folder: Path | None) -> Iterator[str]:
    """Lay a file into a run's folder by which workers see whether they reach it; `sweep` knows it by its name."""
    if folder is None:
        yield ""
        return
    path = temporary_name(folder / f"reached-{secrets.token_hex(8)}")
    write(path, b"")
    try:
        yield path.name
    finally:
        path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Greeting:
    """What a worker says when it is ready."""

    host: str
    shared: bool  # whether it reaches the run's folder
    surroundings: Mapping[str, Any]


@dataclass(frozen=True)
class Delivery:
    """What a worker hands over: the answer to a unit, what was warned about, and files where it has no folder."""

    answer: Any
    warnings: tuple[str, ...]
    files: Files


def unpack(luggage: Luggage, files: Files) -> Callable[..., Any]:
    """Make this process like the driver; return the work."""
    torch.set_num_threads(luggage.threads)
    sys.path += [path for path in luggage.search if path not in sys.path]
    lay_out(files, luggage.home)
    work: Callable[..., Any] = pickle.loads(luggage.work)
    return work


def _check_device(device: str) -> None:
    """Refuse to work without the device; Ray hides those that were not set apart for a worker."""
    try:
        check_device(device)
    except BadInput as error:
        raise BadInput(f"worker on {HOST}: {error}, or set one apart by --gpus-per-worker") from error


class Station:
    """The place where a worker works: the run's folder, or one of its own where it does not reach that."""

    work: Callable[[Any], Any]
    own_folder: Path | None = None  # of its own

    def __init__(self) -> None:
        self.begun = 0  # number of the last unit that was begun
        self.taken_back: set[int] = set()
        self.lock = threading.Lock()

    def greet(self, luggage: Luggage, files: Files) -> Greeting:
        """Make ready for work, and say where this is."""
        self.work = unpack(luggage, files)
        _check_device(getattr(self.work, "device", "cpu"))
        folder: Path | None = getattr(self.work, "folder", None)
        if folder is not None and not (folder / luggage.token).exists():
            self.own_folder = Path(tempfile.mkdtemp(prefix="segstress-"))
            self.work = replace(self.work, folder=self.own_folder)  # type: ignore[type-var]
        return Greeting(HOST, self.own_folder is None, surroundings())

    def take_back(self, number: int) -> bool:
        """Leave a unit to others; whether it was not begun yet. It is asked beside the work in hand."""
        with self.lock:
            if number > self.begun:
                self.taken_back.add(number)
            return number in self.taken_back

    def answer(self, number: int, unit: Any, inputs: Files) -> Delivery | None:
        """Do one unit of work, unless it was taken back; they are numbered as they come."""
        with self.lock:
            self.begun = number
            if number in self.taken_back:
                return None
        for name, data in inputs.items():
            write(Path(self.own_folder or "") / name, data)
        with warnings.catch_warnings(record=True) as caught, noting() as written:
            answer = self.work(unit)
        said = tuple(dict.fromkeys(str(warning.message) for warning in caught))
        if self.own_folder is None:
            return Delivery(answer, said, {})
        files = {str(path.relative_to(self.own_folder)): path.read_bytes() for path in written if path.exists()}
        shutil.rmtree(self.own_folder)
        return Delivery(answer, said, files)
