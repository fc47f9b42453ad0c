"""What people decided about images before any label: keep or reject, with the reason, one line for each decision."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..competition.select import ANY_CLASS
from ..competition.vocabulary import Vocabulary
from ..core import BadInput

FILE = "screening.jsonl"


def screen(folder: Path, decisions: Iterable[Mapping[str, Any]]) -> None:
    """Append decisions {image, class (empty = all), keep, reason, rater}; the last on an image counts."""
    with (folder / FILE).open("a", encoding="utf-8") as file:
        for decision in decisions:
            file.write(json.dumps(dict(decision)) + "\n")
        file.flush()
        os.fsync(file.fileno())


def rejected(folder: Path, words: Vocabulary) -> frozenset[tuple[str, int]]:
    """Image and class of everything that was turned away and not taken back."""
    path = folder / FILE
    if not path.exists():
        return frozenset()
    verdicts: dict[tuple[str, int], bool] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            class_ = row.get("class") or ""
            place = words.classes.index(class_) if class_ else ANY_CLASS
            verdicts[row["image"], place] = bool(row["keep"])
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path}, line {number}: expected image, class and keep ({error})") from error
    return frozenset(key for key, keep in verdicts.items() if not keep)
