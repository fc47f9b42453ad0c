"""What rounding depends on, and the record of the machine on which a run was made."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import torch
from pydantic import Field

from ..core import BadInput, settings, to_plain
from ..core.files import write


@settings
class Numerics:
    """Byte-equality is promised at equal numerics, agreement to rounding otherwise."""

    device: str = "cpu"
    batch_size: Annotated[int, Field(ge=1)] = 1  # images per pass
    threads: Annotated[int, Field(ge=1)] = 1  # of each worker
    dtype: Literal["float32", "float64"] = "float32"
    fold: bool = False  # BatchNorm into convolutions while attacks search; results are judged by the model itself

    def torch_dtype(self) -> torch.dtype:
        """The dtype as torch has it."""
        return torch.float64 if self.dtype == "float64" else torch.float32


def record(folder: Path, numerics: Numerics, *, allow_other: bool = False) -> None:
    """Write environment.json, or refuse to go on with a run under other numerics."""
    path = folder / "environment.json"
    plain = to_plain(numerics)
    if path.exists() and not allow_other:
        before = to_plain(Numerics()) | json.loads(path.read_text())["numerics"]
        changed = [f"{key} {before[key]} -> {plain[key]}" for key in plain if before[key] != plain[key]]
        if changed:
            raise BadInput(
                f"{folder} was begun with other numerics ({', '.join(changed)}), which round differently; "
                "use the same, another --out, or --other-numerics"
            )
    versions = {name: version(name) for name in ("segstress", "torch", "numpy")}
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    write(path, json.dumps({"numerics": plain, "versions": versions, "machine": machine}, indent=1).encode())
