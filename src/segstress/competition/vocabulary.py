"""The classes of a competition, and how each model's outputs are translated into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Shaped

from ..core import BadImage, BadInput
from .formats.label_task import Scheme

POOL = ""  # stands for the pool's own masks among the tables of models


@dataclass(frozen=True)
class Vocabulary:
    """Common classes, and for models that speak otherwise a table from their outputs; an unknown output is void."""

    classes: tuple[str, ...]
    background: int | None = None
    tables: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)  # model -> class of each output

    @property
    def scheme(self) -> Scheme:
        """What annotators choose from."""
        return Scheme(self.classes, self.background)

    def translate(self, prediction: Shaped[np.ndarray, "h w"], model: str) -> Shaped[np.ndarray, "h w"]:
        """Express a label map in the common classes, in the smallest type that holds them."""
        void = self.scheme.void
        own = self.tables.get(model, tuple(range(len(self.classes))))
        table = np.array([void if label is None else label for label in own], dtype=self.scheme.blank(1, 1).dtype)
        if prediction.size and int(prediction.max()) >= len(table):
            raise BadImage(f"model {model} predicts class {int(prediction.max())}, expected less than {len(table)}")
        return table[prediction]

    def check(self, outputs: Mapping[str, int]) -> None:
        """Refuse models whose number of outputs does not fit."""
        for model, count in outputs.items():
            expected = len(self.tables.get(model, self.classes))
            if count != expected:
                raise BadInput(
                    f"model {model} has {count} outputs, expected {expected}; "
                    "join different label sets by a file with 'classes' and 'models' (--classes)"
                )


def read_vocabulary(content: Mapping[str, Any], models: Sequence[str]) -> Vocabulary:
    """Read a mapping: `classes`, perhaps `background`, and tables of class names for `models` and for the `pool`."""
    classes = content.get("classes")
    if not isinstance(classes, list) or len(classes) < 2 or len(set(classes)) != len(classes):
        raise BadInput(f"class file: expected 'classes' with at least two different names, found {classes!r}")
    given = content.get("models") or {}
    unknown = [name for name in given if name not in models]
    if unknown:
        raise BadInput(f"class file: '{unknown[0]}' is no model of this competition; they are {', '.join(models)}")
    background = content.get("background")
    tables = {name: _table(table, classes, name) for name, table in given.items()}
    if "pool" in content:
        tables[POOL] = _table(content["pool"], classes, "pool")
    return Vocabulary(
        classes=tuple(classes),
        background=None if background is None else _number_of(background, classes, "background"),
        tables=tables,
    )


def _table(table: Any, classes: Sequence[str], model: str) -> tuple[int | None, ...]:
    """Read a list by output, or a mapping from output to class name that leaves out what has no counterpart."""
    if isinstance(table, Mapping):
        table = [table.get(output) for output in range(max(table) + 1)]
    if not isinstance(table, list):
        raise BadInput(f"class file: {model}: expected a list of class names, found {type(table).__name__}")
    return tuple(None if name is None else _number_of(name, classes, model) for name in table)


def _number_of(name: Any, classes: Sequence[str], where: str) -> int:
    if name not in classes:
        raise BadInput(f"class file: {where}: unknown class '{name}'; the classes are {', '.join(classes)}")
    return list(classes).index(name)
