"""What is asked: a cell of a run, and the unit of work that a worker takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..core import BadInput, digest

SCHEMA = 2  # version of what a cell's folder holds; 1 had no checksums
EARLIER = {"prints": "fingerprints", "facts": "dataset_info"}  # what version 0.1.0 called them


@dataclass(frozen=True)
class Cell:
    """One model, one dataset, one perturbation, one seed, as plain data."""

    names: Mapping[str, str]  # of model, data and perturbation, for people
    model: Mapping[str, Any]
    data: Mapping[str, Any]
    perturbation: Mapping[str, Any]
    seed: int
    fingerprints: Mapping[str, str]  # fingerprints of the model and of the data
    dataset_info: Mapping[str, Any]  # what a report must know of the data: classes, background, void, palette
    files: Sequence[str] = ()  # fingerprints of the files that the perturbation reads

    @property
    def is_clean(self) -> bool:
        """Whether it is about the images as they are."""
        return bool(self.perturbation["kind"] == "clean")

    @property
    def label(self) -> str:
        """Model, data and perturbation in one line."""
        return " ".join(self.names[part] for part in ("model", "data", "perturbation"))

    @cached_property
    def key(self) -> str:
        """Folder name: the label, and a hash of what is asked."""
        return f"{re.sub('[^A-Za-z0-9.=+]+', '-', self.label).strip('-')[:100]}-{self.identity}"

    @property
    def identity(self) -> str:
        """A hash of what is asked, never of where it lies, what it is called or how it runs."""
        identity = {"perturbation": dict(self.perturbation), "seed": self.seed, **self.fingerprints}
        if self.files:
            identity["files"] = list(self.files)
        return digest(identity)


@dataclass(frozen=True)
class Unit:
    """What a worker takes at a time: images of one cell, or of several whose later ones spare what is finished."""

    steps: tuple[tuple[Cell, tuple[str, ...]], ...]
    batches: tuple[tuple[str, ...], ...]  # images that meet the model together, whatever else is in the unit
    finished: Mapping[str, str] = field(default_factory=dict)  # image -> key of the cell after which nothing was left
    number: int = 0  # its place among all units of a phase, finished ones too: the same in every process

    @property
    def label(self) -> str:
        """What it does, in a few words."""
        names = [cell.names["perturbation"] for cell, ids in self.steps if ids]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"{self.steps[0][0].names['model']}, {names[0] if names else 'nothing'}{more}"


def cell_of(plain: Mapping[str, Any], path: Path) -> Cell:
    """Return the cell that a file spells out, or refuse what another version wrote."""
    schema = plain.get("schema", 1)
    if schema not in (1, SCHEMA):
        raise BadInput(f"{path} has results of schema {schema}; this version reads 1 and {SCHEMA}: use a later one")
    try:
        return Cell(**{EARLIER.get(key, key): value for key, value in plain.items() if key != "schema"})
    except TypeError as error:
        raise BadInput(f"{path} was written by another version of segstress ({error}); use that version") from error
