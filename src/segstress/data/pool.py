"""What pools of unlabelled images share."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import torch

from ..core import settings
from .encoded import Encoded
from .reading import Picture
from .sample import Sample


@settings
class Pool(Encoded):
    """Unlabelled images; their classes come from the models or from a class file."""

    positional: ClassVar = "root"
    root: Path

    classes: ClassVar[tuple[str, ...]] = ()
    void: ClassVar[str] = "none"

    @property
    def name(self) -> str:
        """Its own name."""
        return self.root.resolve().stem


def unlabelled(id: str, picture: Picture) -> Sample:
    """Make a sample without a valid pixel."""
    nothing = torch.zeros(picture.pixels.shape[1:], dtype=torch.int64)
    return Sample(id, picture.pixels, nothing, nothing.bool(), picture.source, picture.notes)
