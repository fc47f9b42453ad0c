"""How long every answer took: apart from the results, which must not depend on it."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FILE = "timings.csv"


class Timing(NamedTuple):
    """Wall time of one image in one cell: an equal part of that of the images answered together."""

    cell: str
    image: str
    seconds: float


def note(folder: Path, timings: Iterable[Timing], part: str = "") -> None:
    """Add to what the folder holds; parts that share it have a file each, since two cannot append to one."""
    path = folder / (f"timings-{part.replace('/', '-of-')}.csv" if part else FILE)
    begun = path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        if not begun:
            rows.writerow(Timing._fields)
        rows.writerows((cell, image, f"{seconds:.4f}") for cell, image, seconds in timings)


def read(folder: Path) -> dict[tuple[str, str], float]:
    """Return seconds by cell and image; of an image that was answered again, the last ones."""
    seconds: dict[tuple[str, str], float] = {}
    for path in sorted(folder.glob("timings*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            seconds |= {(row["cell"], row["image"]): float(row["seconds"]) for row in csv.DictReader(file)}
    return seconds
