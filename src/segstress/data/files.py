"""Datasets that lie in files: images and masks found by name, decoded and checked in one way for all of them."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections import Counter
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from jaxtyping import Int64
from numpy import ndarray

from ..core import BadImage, BadInput, settings
from ..core.errors import printable
from ..core.file_hashes import file_hashes
from ..core.remote import AnyPath, RemotePath
from .arrays import PLAIN, Encoding
from .dataset import READERS, Dataset, Sample
from .labelling import UNKNOWN, VOID, Codes, translate, unknown_codes
from .reading import SUFFIXES, read_image, read_mask
from .sample import unlabelled

PROBED = 20  # masks that `check` reads


class Pair(NamedTuple):
    """The files of one id; none where one of them is missing."""

    image: Path | None
    mask: Path | None


@settings
class Files(Dataset):
    """Image files and mask files under one root."""

    positional: ClassVar = "root"
    root: AnyPath

    @abstractmethod
    def find(self) -> dict[str, Pair]:
        """Find the files of every id."""

    @abstractmethod
    def codes(self) -> Codes:
        """Say what the codes in the masks mean."""

    def read_codes(self, mask: Path) -> Int64[ndarray, "h w"]:
        """Read what stands in a mask file."""
        return read_mask(mask, self.colour_masks)

    @property
    def colour_masks(self) -> bool:
        """Whether the codes are colours."""
        return False

    @property
    def encoding(self) -> Encoding:
        """What the image files do not say of their arrays."""
        return PLAIN

    @property
    def labelled(self) -> bool:
        """Whether there are masks."""
        return True

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.root.resolve().name

    @property
    def readers(self) -> int:
        """Return how many threads may read it at once."""
        return READERS

    @cached_property
    def _pairs(self) -> dict[str, Pair]:
        return self.find()

    def ids(self) -> list[str]:
        """Return every id for which there is an image or a mask."""
        return list(self._pairs)

    def contents(self) -> list[tuple[str, ...]]:
        """Return ids with the hashes of their files."""
        hashes = file_hashes(path for pair in self._pairs.values() for path in pair if path)
        return [(id, *(hashes[path] if path else "" for path in pair)) for id, pair in sorted(self._pairs.items())]

    def files(self) -> dict[str, str]:
        """Return the hash of every image and mask by its path below the root."""
        hashes = file_hashes(path for pair in self._pairs.values() for path in pair if path)
        return {self._below(path): hash_ for path, hash_ in hashes.items()}

    def _below(self, path: Path) -> str:
        """Return a file's path from the root on; it may lie beside it."""
        remote = isinstance(path, RemotePath)
        return path.relative_to(self.root).as_posix() if remote else Path(os.path.relpath(path, self.root)).as_posix()

    def read(self, id: str) -> Sample:
        """Read the image and its labels; BadImage says what is wrong with either."""
        image, mask = self._pairs.get(id, Pair(None, None))
        if image is None:
            raise BadImage(f"mask {mask} has no image of that name" if mask else f"{self.name} has no image '{id}'")
        picture = read_image(image, self.encoding)
        if not self.labelled:
            return unlabelled(id, picture)
        labels = self._labels(image, mask, picture.pixels.shape[1:])
        valid = labels != VOID
        return Sample(
            id=id,
            image=picture.pixels,
            labels=torch.from_numpy(np.where(valid, labels, 0)),
            valid=torch.from_numpy(valid),
            source=picture.source,
            notes=picture.notes,
        )

    def _labels(self, image: Path, mask: Path | None, sides: tuple[int, ...]) -> Int64[ndarray, "h w"]:
        if mask is None:
            raise BadImage(f"image {image} has no mask of that name")
        codes = self.read_codes(mask)
        if codes.shape != sides:
            raise BadImage(f"image {image} is {_times(sides)} (height x width), its mask {_times(codes.shape)}")
        labels = translate(codes, self.codes())
        if (labels == UNKNOWN).any():
            raise BadImage(f"mask {mask}: {self._describe(unknown_codes(codes, self.codes())[0])}")
        return labels

    def _describe(self, code: int) -> str:
        name = f"colour 0x{code:06x}" if self.colour_masks else f"label id {code}"
        return f"{name} is neither one of the {len(self.classes)} classes nor ignored"

    def check(self) -> None:
        """Refuse a folder without images, without masks, or with masks that speak of other classes."""
        super().check()
        if self.labelled:
            masks = [pair.mask for pair in self._pairs.values() if pair.image and pair.mask]
            if not masks:
                raise BadInput(f"{self.root}: no image has a mask of the same name; expected one for each")
            self._probe(masks[:PROBED])

    def _probe(self, masks: list[Path]) -> None:
        """Refuse an unknown code that most masks have: the settings are wrong. One strange mask is an error row."""
        strange: Counter[int] = Counter()
        for mask in masks:
            with suppress(BadImage):  # its own row will say so
                strange.update(unknown_codes(self.read_codes(mask), self.codes()))
        for code, times in strange.most_common(1):
            if 2 * times > len(masks):
                raise BadInput(f"{self.root}: {self._describe(code)}, in {times} of the first {len(masks)} masks")


def list_files(folder: Path, suffix: str = "", suffixes: tuple[str, ...] = SUFFIXES) -> dict[str, Path]:
    """Return list image files anywhere below a folder by id: their path in it, without `suffix` and extension."""
    if not folder.is_dir():
        raise BadInput(f"folder {folder} does not exist; expected image files in it")
    paths: dict[str, Path] = {}
    for path in sorted(folder.rglob(f"*{suffix}.*")):
        if path.suffix.lower() not in suffixes or path.name.startswith("."):
            continue
        id = printable(path.relative_to(folder).with_suffix("").as_posix().removesuffix(suffix))
        if id in paths:
            raise BadInput(f"{paths[id]} and {path} share the id '{id}'; keep one of them")
        paths[id] = path
    if not paths:
        raise BadInput(f"folder {folder} holds no image files; expected names such as *{suffix}.png")
    return paths


def pair_up(images: dict[str, Path], masks: dict[str, Path]) -> dict[str, Pair]:
    """Put files of the same id together, in the order of ids."""
    return {id: Pair(images.get(id), masks.get(id)) for id in sorted(images.keys() | masks.keys())}


def _times(sides: tuple[int, ...]) -> str:
    return "x".join(map(str, sides))
