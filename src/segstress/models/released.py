"""Files of tensors, read without running anything that is in them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from ..core import BadInput
from .model import first_line


class Inert:
    """Stands for an object of a trainer's that is stored beside the weights; none of its own code runs."""

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        pass


# What trainers store beside weights: settings of a command line, paths, the history of mmengine's logs.
INERT = (
    "argparse.Namespace",
    "pathlib.PosixPath",
    "pathlib._local.PosixPath",
    "pathlib.Path",
    "mmengine.logging.history_buffer.HistoryBuffer",
    "builtins.getattr",  # by which that one stores its methods: asked for an attribute, an inert object stays inert
    "__builtin__.getattr",
)
NUMBERS = ("float64", "float32", "float16", "int64", "int32", "int16", "uint8", "bool", "str_")


def read_file(path: Path) -> Any:
    """Read what is in a safetensors or torch file; the latter may also hold numbers of numpy and inert objects."""
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        with torch.serialization.safe_globals(_harmless()):
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise BadInput(f"weights '{path}' hold more than tensors and are refused; save a state_dict alone") from error
    except Exception as error:  # a broken pickle or zip raises almost anything
        why = f"{type(error).__name__}: {first_line(error)}".removesuffix(": ")
        raise BadInput(
            f"weights '{path}' cannot be read ({why}); expected a .safetensors file or one that torch.save wrote"
        ) from error


def _harmless() -> list[Any]:
    """List what may be unpickled beside tensors: numpy's numbers and arrays under old and new names, inert objects."""
    scalar, rebuild = np.float64(0).__reduce__()[0], np.empty(0).__reduce__()[0]
    functions = [
        (function, f"numpy.{core}.multiarray.{name}")
        for core in ("core", "_core")
        for function, name in ((scalar, "scalar"), (rebuild, "_reconstruct"))
    ]
    types = [np.dtype, np.ndarray, *{type(np.dtype(name)) for name in NUMBERS}]
    return [*functions, *types, *((Inert, name) for name in INERT)]


def only_tensors(content: Any) -> bool:
    """Say whether it is a mapping of names to tensors and of nothing else."""
    named = isinstance(content, Mapping) and bool(content)
    return named and all(isinstance(name, str) and isinstance(value, Tensor) for name, value in content.items())


def brief(names: Any, count: int = 3) -> str:
    """Name a few, and say how many there are."""
    if not isinstance(names, Mapping | list):
        return type(names).__name__
    shown = [str(name) for name in names][:count]
    more = f", ... ({len(names)})" if len(names) > len(shown) else ""
    return ", ".join(shown) + more if shown else "none"
