"""What settings read from files, as a hash: the same settings with other files are another question."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .configuration import digest


def files_fingerprint(folder: Path, paths: Iterable[Path]) -> str:
    """Hash the names and contents of files, not the path of their folder."""
    return digest(
        [(path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in sorted(paths)]
    )


def fingerprints(item: Any) -> list[str]:
    """Return the `fingerprint()` of settings that have one, and of those inside them."""
    if not dataclasses.is_dataclass(item):
        return []
    own = [item.fingerprint()] if hasattr(item, "fingerprint") else []
    return own + [inner for field in dataclasses.fields(item) for inner in fingerprints(getattr(item, field.name))]
