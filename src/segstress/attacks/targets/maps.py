"""Targets drawn by hand or made elsewhere: label maps in files."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import torch
from jaxtyping import Int64
from torch import Tensor

from ...core import BadImage, BadInput, Batch, Scene, Wanted, settings, targets
from ...core.fingerprints import files_fingerprint
from ...data.reading import read_mask


@targets.register("map")
@settings
class Map:
    """Class ids from one PNG for all images, or from a folder with `<image id>.png`, as large as the model sees them.

    Example: `map:wanted.png?ignore=255`. Pixels that are ignored may become anything.
    """

    positional: ClassVar = "source"
    source: Path  # file or folder
    ignore: int | None = None  # the id that wants nothing; none = every pixel counts

    @property
    def label(self) -> str:
        """The name of the file or folder."""
        return f"map {self.source.name}"

    def fingerprint(self) -> str:
        """Hash the maps."""
        if self.source.is_file():
            return files_fingerprint(self.source.parent, [self.source])
        if not self.source.is_dir():
            raise BadInput(
                f"target map '{self.source}' does not exist; expected a PNG file or a folder with <image id>.png"
            )
        return files_fingerprint(self.source, self.source.rglob("*.png"))

    def wanted(self, batch: Batch, scene: Scene) -> Wanted:
        """Return the map of each image."""
        codes = torch.stack([self._read(id_, tuple(batch.labels.shape[-2:])) for id_ in batch.ids]).to(batch.labels)
        valid = torch.ones_like(batch.valid) if self.ignore is None else codes != self.ignore
        return Wanted(codes.masked_fill(~valid, 0), valid)

    def _read(self, id_: str, sides: tuple[int, ...]) -> Int64[Tensor, "h w"]:
        path = self.source / f"{id_}.png" if self.source.is_dir() else self.source
        if not path.is_file():
            raise BadImage(f"target map {path} is missing; every image needs one")
        codes = read_mask(path)
        if codes.shape != sides:
            given, expected = ("x".join(map(str, shape)) for shape in (codes.shape, sides))
            raise BadImage(f"target map {path}: expected {expected} (height x width) as the model sees, found {given}")
        return torch.from_numpy(codes)
