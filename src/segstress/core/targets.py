"""What a targeted attack wants to see instead: one class everywhere, or a label map for each image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int64
from pydantic import BeforeValidator
from torch import Tensor, nn

from .batch import Batch
from .configuration import settings
from .errors import BadImage, BadInput
from .quantities import CountOrNone
from .registry import Registry


@dataclass(frozen=True)
class Scene:
    """What a target may know beside the batch: the model, the classes, and the dataset around the batch."""

    model: nn.Module
    classes: int | None = None  # none where nobody says
    ids: tuple[str, ...] = ()  # every image of the dataset, in its order
    read: Callable[[str], Float[Tensor, "c h w"]] | None = None  # one of them, as the model sees it


class Wanted(NamedTuple):
    """A label map for each image, and where it counts."""

    labels: Int64[Tensor, "b h w"]  # 0 where not valid
    valid: Bool[Tensor, "b h w"]


@runtime_checkable
class Target(Protocol):
    """A rule that says what is wanted of every image."""

    @property
    def label(self) -> str:
        """Its name in tables, as in: to class 3."""
        ...

    def wanted(self, batch: Batch, scene: Scene) -> Wanted:
        """Return the label maps; BadImage where an image has none that fits."""
        ...


targets: Registry[Target] = Registry("target")


@targets.register("class")
@settings
class Everywhere:
    """One class on every pixel, void or not: `class:3`, or simply `3`."""

    positional: ClassVar = "id"
    id: CountOrNone

    @property
    def label(self) -> str:
        """The class by its number."""
        return f"class {self.id}"

    def wanted(self, batch: Batch, scene: Scene) -> Wanted:
        """Return the class everywhere."""
        if scene.classes is not None and self.id >= scene.classes:
            raise BadInput(f"target {self.label}: expected one of {scene.classes} classes, 0 to {scene.classes - 1}")
        return Wanted(torch.full_like(batch.labels, self.id), torch.ones_like(batch.valid))


def _read(value: Any) -> Any:
    """Read a bare number as a class."""
    return {"kind": "class", "id": value} if isinstance(value, int) or str(value).isdecimal() else value


TargetSetting = Annotated[Target | None, *targets.field(), BeforeValidator(_read)]


def aimed(batch: Batch, target: Target | None, scene: Scene) -> Batch:
    """Return the batch with what is wanted of it; a goal that it already carries stays."""
    if target is None or batch.goal is not None:
        return batch
    labels, valid = target.wanted(batch, scene)
    strange = labels[(labels < 0) | (labels >= scene.classes)] if scene.classes else labels[labels < 0]
    if strange.numel():
        raise BadImage(f"target {target.label}: expected ids of {scene.classes} classes, found {int(strange[0])}")
    return replace(batch, goal=labels, goal_valid=valid)
