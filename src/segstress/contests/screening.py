"""What people decided before and beside the labels: images kept or rejected, labels found right or not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..competition.select import ANY_CLASS
from ..competition.vocabulary import Vocabulary
from ..core import BadInput
from ..voting.decision_log import DecisionLog
from ..voting.trial_list import Mode

FILE = "screening.jsonl"


def decisions(folder: Path, mode: Mode) -> DecisionLog:
    """Return the decisions that people made on the judge page."""
    return DecisionLog(folder / f"decisions-{mode}.jsonl")


def screen(folder: Path, verdicts: Iterable[Mapping[str, Any]]) -> None:
    """Append verdicts {image, class (empty = all), keep, reason}; the last on an image counts."""
    for verdict in verdicts:
        DecisionLog(folder / FILE).append(verdict)


def rejected(folder: Path, words: Vocabulary) -> frozenset[tuple[str, int]]:
    """List image and class of all that was turned away and not taken back, in a file or by anyone on the page."""
    keeps: dict[tuple[str, int], bool] = {}
    path = folder / FILE
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else (), start=1):
        try:
            row = json.loads(line)
            class_ = row.get("class") or ""
            keeps[row["image"], words.classes.index(class_) if class_ else ANY_CLASS] = bool(row["keep"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path}, line {number}: expected image, class and keep ({error})") from error
    for row in decisions(folder, "screen").current():
        if row["choice"] == "reject":
            keeps[row["image"], words.classes.index(row["classes"][0])] = False
    for row in decisions(folder, "choose").current():
        if row["choice"] == "reject":
            keeps[row["image"], ANY_CLASS] = False
    return frozenset(key for key, keep in keeps.items() if not keep)


def doubted(folder: Path) -> frozenset[str]:
    """Return the images whose labels someone found wrong in the cross-check round."""
    return frozenset(row["image"] for row in decisions(folder, "review").current() if row["choice"] == "reject")
