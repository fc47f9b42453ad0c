"""What rounding depends on, and the record of the machine on which a run was made."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from pydantic import Field

from ..core import BadInput, settings, to_plain
from ..core.quantities import Threads
from .checksums import read_json, write_json
from .surroundings import DECIDING, code, host, versions

SURROUNDINGS = ("numerics", "versions", "machine", "host")


@settings
class Numerics:
    """Byte-equality is promised at equal numerics, agreement to rounding otherwise."""

    device: str = "cpu"
    batch_size: Annotated[int, Field(ge=0, le=2**31)] = 0  # images per pass; 0 = by the rule of planning/batching.py
    threads: Threads = 1  # of each worker
    dtype: Literal["float32", "float64", "bfloat16"] = "float32"  # bfloat16: attacks search so, float32 judges
    fold: bool = False  # BatchNorm into convolutions while attacks search; results are judged by the model itself
    channels_last: bool = False  # weights and activations in the memory order that some devices prefer

    def torch_dtype(self) -> torch.dtype:
        """Return the dtype in which images are held and results are judged."""
        return torch.float64 if self.dtype == "float64" else torch.float32


def recorded(folder: Path) -> Numerics | None:
    """Return the numerics with which a run was begun, if it was."""
    path = folder / "environment.json"
    if not path.exists():
        return None
    plain = read_json(path)["numerics"]
    return Numerics(**(plain | {"batch_size": plain.get("batch_size") or 1}))  # earlier versions had one image


def refuse_other(folder: Path, numerics: Numerics) -> None:
    """Refuse to go on with a run that was begun under other numerics."""
    begun = recorded(folder)
    before = to_plain(begun or numerics)
    plain = _as_begun(numerics, begun)
    changed = [f"{key} {before[key]} -> {plain[key]}" for key in plain if before[key] != plain[key]]
    if changed:
        raise BadInput(
            f"{folder} was begun with other numerics ({', '.join(changed)}), which round differently; "
            "use the same, another --out, or --other-numerics"
        )


def _as_begun(numerics: Numerics, begun: Numerics | None) -> dict[str, Any]:
    """Return numerics as they are recorded: 0 images of a pass leave those with which a run was begun."""
    plain = to_plain(numerics)
    return plain | {"batch_size": plain["batch_size"] or (begun.batch_size if begun else 0)}


def record(folder: Path, numerics: Numerics, *, allow_other: bool = False, sources: Iterable[Path] = ()) -> None:
    """Write environment.json, or refuse to go on with a run under other numerics."""
    if not allow_other:
        refuse_other(folder, numerics)
    path = folder / "environment.json"
    now = {"numerics": _as_begun(numerics, recorded(folder)), **surroundings()}
    written = read_json(path) if path.exists() else {}
    date = written.get("begun") or datetime.now(UTC).isoformat(timespec="seconds")
    write_json(path, {**now, "begun": date, "code": code(sources), "earlier": _earlier(written, now)})


def surroundings() -> dict[str, Any]:
    """Return the packages and the machine with which this process computes."""
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    return {"versions": versions(), "machine": machine, "host": host()}


def record_elsewhere(folder: Path, there: Mapping[str, Any]) -> str:
    """Note surroundings of a worker elsewhere that round differently from those of a run; say in what they differ."""
    path = folder / "environment.json"
    if not path.exists():
        return ""
    written = read_json(path)
    ours, theirs = _rounding(written), _rounding(there)
    other = [f"{key} {ours[key]} -> {theirs[key]}" for key in ours if ours[key] != theirs[key]]
    beside = {"numerics": written["numerics"], **there}
    if other and beside not in written.get("earlier", ()):
        write_json(path, {**written, "earlier": [*written.get("earlier", ()), beside]})
    return ", ".join(other)


def other_rounding(environment: Mapping[str, Any]) -> str:
    """Say why results of a recorded run may round differently here; nothing where they may not."""
    here = _rounding(surroundings())
    for made in (environment, *environment.get("earlier", ())):
        there = _rounding(made)
        other = [f"{key} {there[key]} -> {here[key]}" for key in here if here[key] != there[key]]
        if other:
            return f"made elsewhere ({', '.join(other)})"
        if made["numerics"] != environment["numerics"]:
            return "made with several numerics"
    return ""


def _rounding(made: Mapping[str, Any]) -> dict[str, str]:
    """Return what rounding depends on, apart from numerics."""
    packages = {name: made["versions"].get(name, "unknown") for name in DECIDING}
    processor = made.get("host", {}).get("processor", "unknown")
    return {**packages, "machine": made["machine"]["machine"], "processor": processor}


def _earlier(written: Mapping[str, Any], now: Mapping[str, Any]) -> list[Any]:
    """Return the surroundings in which other parts of the run were made."""
    before = {key: written[key] for key in SURROUNDINGS if key in written}
    earlier = list(written.get("earlier", ()))
    return earlier if not before or before == now or before in earlier else [*earlier, before]
