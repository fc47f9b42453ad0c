"""What pools of unlabelled images share."""

from __future__ import annotations

from typing import ClassVar

from ..core import settings
from ..core.remote import AnyPath
from .encoded import Encoded


@settings
class Pool(Encoded):
    """Unlabelled images; their classes come from the models or from a class file."""

    positional: ClassVar = "root"
    root: AnyPath

    classes: ClassVar[tuple[str, ...]] = ()
    void: ClassVar[str] = "none"

    @property
    def name(self) -> str:
        """Its own name."""
        return self.root.resolve().stem
