"""A region drawn by hand: one mask file for each image."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from ..batch import Batch
from ..configuration import settings
from ..errors import BadImage, BadInput
from ..fingerprints import files_fingerprint
from .region import regions


@regions.register("masks")
@settings
class MaskFolder:
    """Masks from a folder, `<image id>.png`, as large as the image: any value but 0 belongs."""

    positional: ClassVar = "folder"
    folder: str

    def mask(self, batch: Batch, seed: int) -> Bool[Tensor, "b h w"]:
        """Return the mask of each image."""
        self._check()
        sides = tuple(batch.labels.shape[-2:])
        return torch.stack([self._read(id_, sides) for id_ in batch.ids]).to(batch.labels.device)

    def fingerprint(self) -> str:
        """Hash the masks."""
        self._check()
        return files_fingerprint(Path(self.folder), Path(self.folder).rglob("*.png"))

    def _check(self) -> None:
        if not Path(self.folder).is_dir():
            raise BadInput(f"region masks: '{self.folder}' is not a folder; expected one with <image id>.png")

    def _read(self, id_: str, sides: tuple[int, ...]) -> Bool[Tensor, "h w"]:
        path = Path(self.folder) / f"{id_}.png"
        try:
            pixels = np.array(Image.open(path))
        except FileNotFoundError as error:
            raise BadImage(f"mask {path} is missing; every image needs one") from error
        except (UnidentifiedImageError, OSError) as error:
            raise BadImage(f"mask {path} cannot be read as an image") from error
        if pixels.shape != sides:
            raise BadImage(f"mask {path}: expected {sides[0]} x {sides[1]} pixels of one channel, found {pixels.shape}")
        return torch.from_numpy(pixels > 0)
