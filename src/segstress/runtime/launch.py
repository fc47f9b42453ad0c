"""Run a training function where it was started: alone here, or as one of torchrun's or Ray Train's processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TypeVar

import torch
from torch import distributed

from ..core.system import check_device

T = TypeVar("T")


def launch(work: Callable[[str], T], device: str = "cpu", threads: int = 1) -> T:
    """Call `work` with the device of this process; torchrun's variables say whether there are others."""
    torch.set_num_threads(threads)
    check_device(device)
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return work(device)
    graphics = device.startswith("cuda")
    with joined("nccl" if graphics else "gloo"):
        return work(f"cuda:{os.environ['LOCAL_RANK']}" if graphics else device)


@contextmanager
def joined(backend: str) -> Iterator[None]:
    """Join this process to the others, unless whoever started them has done so."""
    if distributed.is_initialized():
        yield
        return
    # Defaults of its functions hold the group that there is when it is imported, which torch does under way: threads of
    # a group that is never freed outlive the interpreter, and now and then they abort the process.
    import_module("torch.distributed.nn")
    distributed.init_process_group(backend)
    try:
        yield
    finally:
        distributed.destroy_process_group()


def leads() -> bool:
    """Tell whether this process writes files and talks; of several only the first does."""
    return os.environ.get("RANK", "0") == "0" or "TORCHELASTIC_RUN_ID" not in os.environ
