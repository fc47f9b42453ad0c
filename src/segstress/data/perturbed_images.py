"""Perturbed images that rest in a folder by image id: pictures that a run kept, or PNG, NPY and NPZ files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..core import BadImage, BadInput
from .arrays import Encoding, scaled
from .files import list_files
from .packed_arrays import unpack
from .reading import SUFFIXES, read_image

AS_SAVED = Encoding(channels="last")


class StoredPicture(NamedTuple):
    """Where one image lies: a file, and its name in it where the file holds several."""

    path: Path
    entry: str = ""


class Stored:
    """A folder of perturbed images; that of a run, or of one of its cells, may hold several for an id."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise BadInput(f"folder {folder} does not exist; expected one of a run, or of PNG, NPY or NPZ files")
        self.folder = folder
        self._entries = lru_cache(maxsize=2)(_entries)  # neighbours lie in one file

    @cached_property
    def pictures(self) -> dict[str, list[StoredPicture]]:
        """The images of every id."""
        kept = [path for path in sorted(self.folder.rglob("kept-*.zst")) if _counts(path.parent)]
        by_id: dict[str, list[StoredPicture]] = {}
        for id_, source in _in_run(kept) if kept else _in_files(self.folder):
            by_id.setdefault(id_, []).append(source)
        return by_id

    @cached_property
    def content(self) -> str:
        """Hash of the files."""
        hashed = hashlib.blake2b(digest_size=6)
        for path in sorted({source.path for pictures in self.pictures.values() for source in pictures}):
            hashed.update(path.relative_to(self.folder).as_posix().encode())
            hashed.update(path.read_bytes())
        return hashed.hexdigest()

    @property
    def most(self) -> int:
        """The number of images of the id that has most of them."""
        return max(map(len, self.pictures.values()))

    def read(self, id_: str) -> list[Float[Tensor, "c h w"]]:
        """Read all images of one id; BadImage where there is none or one cannot be read."""
        if id_ not in self.pictures:
            raise BadImage(f"{self.folder} holds no image '{id_}'; a run keeps them all with --keep-images")
        return [self._read(source) for source in self.pictures[id_]]

    def _read(self, source: StoredPicture) -> Float[Tensor, "c h w"]:
        if not source.entry:
            return read_image(source.path, AS_SAVED).pixels
        array = self._entries(source.path)[source.entry]
        if source.path.suffix == ".npz":
            array = scaled(source.path, array, AS_SAVED).transpose(2, 0, 1)
        return torch.from_numpy(np.ascontiguousarray(array))


def content_of(folder: Path) -> str:
    """Hash the images in a folder; worked out again only where a file has changed."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return _content(folder, tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files))


@lru_cache(maxsize=2)
def _content(folder: Path, stamps: tuple[tuple[Path, int, int], ...]) -> str:
    return Stored(folder).content


@lru_cache(maxsize=2)
def open_stored(folder: Path, content: str) -> Stored:
    """Open a folder, looked through once a process; refused where it holds something else than was noted."""
    stored = Stored(folder)
    if stored.content != content:
        raise BadInput(f"{folder} holds other images than when this run was begun; choose another --out")
    return stored


def _counts(folder: Path) -> bool:
    """Tell whether these are perturbed pictures, and not of a shard that a run has set aside."""
    cell = folder / "cell.json"
    clean = cell.exists() and json.loads(cell.read_text())["perturbation"]["kind"] == "clean"
    return not clean and folder.name != "set-aside"


def _in_run(paths: list[Path]) -> list[tuple[str, StoredPicture]]:
    return [(entry.partition("|")[2], StoredPicture(path, entry)) for path in paths for entry in sorted(_entries(path))]


def _in_files(folder: Path) -> list[tuple[str, StoredPicture]]:
    """List the images in files; an archive of one array goes by its file's name, those of several by their own."""
    sources = []
    for id_, path in list_files(folder, suffixes=SUFFIXES).items():
        entries = list(_entries(path)) if path.suffix == ".npz" else [""]
        sources += [(id_ if len(entries) == 1 else entry, StoredPicture(path, entry)) for entry in entries]
    return sources


def _entries(path: Path) -> Mapping[str, np.ndarray]:
    """Read the arrays of a file that holds several."""
    if path.suffix == ".zst":
        return unpack(path.read_bytes())
    try:
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    except Exception as error:  # zip and header are parsed anew, so broken files raise almost anything
        raise BadInput(f"{path} is damaged ({error}); expected an archive written by numpy.savez") from error
