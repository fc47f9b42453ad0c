"""What every call from Python shares: it runs in the user's process, and leaves that as it was."""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from ..models.memory import given_back
from ..runtime import Progress, refuse_rerun

log = logging.getLogger("segstress")


@contextmanager
def here(*given: object) -> Iterator[None]:
    """Give back threads and models as they came; a worker that runs its parent's script anew ends here."""
    refuse_rerun()
    threads = torch.get_num_threads()
    try:
        with given_back(*(value for value in given if isinstance(value, nn.Module))):
            yield
    finally:
        torch.set_num_threads(threads)


def listener(progress: Progress | None) -> Progress:
    """Return whom a run tells about itself: by default the log named `segstress`, which prints warnings."""
    return progress or Progress(warn=log.warning)


class ResultFolder:
    """Where results go: a folder that is named, or a temporary one, which goes when nobody holds this any more."""

    def __init__(self, out: Path | str | None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="segstress-")) if out is None else Path(out)
        self._removal = weakref.finalize(self, shutil.rmtree, self.path, True) if out is None else None

    def keep(self) -> None:
        """Leave the folder where it is for good."""
        if self._removal:
            self._removal.detach()
