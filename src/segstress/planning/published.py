"""What papers print, as data that comes with the package: each figure with the table that it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from ..core import BadInput, settings
from .reading import checked, read_yaml

FOLDER = "plans/papers/published"


@settings
class PublishedModel:
    """The figures of one model: percent, 1/255 for sizes, or places."""

    source: str  # table
    figures: dict[str, float]
    by_attack: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)  # table -> figure -> attacks
    plan: str  # protocol that asks for them
    network: str = ""  # what the model is, in the words of the protocol's networks; none = a competition
    model: Annotated[int, Field(ge=0)] = 0  # which of the protocol's models it is

    @property
    def placed(self) -> list[str]:
        """The models that figures of a competition are of."""
        return list(dict.fromkeys(figure.partition(" ")[2] for figure in self.figures))


@settings
class Published:
    """What one paper prints."""

    about: str
    models: dict[str, PublishedModel]
    attacks: tuple[str, ...] = ()  # what `by_attack` is of, in this order

    @model_validator(mode="after")
    def _check(self) -> Published:
        wanted = len(self.attacks)
        for name, model in self.models.items():
            for values in (values for table in model.by_attack.values() for values in table.values()):
                if len(values) != wanted:
                    raise BadInput(f"{name}: expected a value for each of {wanted} attacks, found {len(values)}")
        return self

    def of(self, name: str) -> PublishedModel:
        """Return the figures of one of its models."""
        return self.models[self.name(name)]

    def name(self, given: str | None) -> str:
        """Return the name of one of its models, the first where none is given."""
        name = given or next(iter(self.models))
        if name not in self.models:
            raise BadInput(f"--as: the paper prints no '{name}'; it has {', '.join(self.models)}")
        return name

    def rivals(self, wanted: PublishedModel) -> list[str]:
        """Return its models that are the same network, trained in other ways, and the given one."""
        same = (wanted.plan, wanted.model, wanted.network)
        return [name for name, model in self.models.items() if (model.plan, model.model, model.network) == same]

    def figures(self, model: PublishedModel) -> Iterator[tuple[str, float, str]]:
        """Yield each figure of one of its models with the table that it stands in, single attacks last."""
        for figure, value in model.figures.items():
            yield figure, value, model.source
        for source, table in model.by_attack.items():
            for figure, values in table.items():
                for attack, value in zip(self.attacks, values, strict=True):
                    yield f"{figure} of {attack}", value, source


def published_names() -> list[str]:
    """Return the papers whose figures are stored."""
    return sorted(Path(path.name).stem for path in files("segstress").joinpath(FOLDER).iterdir())


def published(name: str) -> Published:
    """Read what a paper prints."""
    if name not in published_names():
        raise BadInput(f"unknown paper '{name}'; known: {', '.join(published_names())}")
    text = files("segstress").joinpath(FOLDER, f"{name}.yaml").read_text(encoding="utf-8")
    return checked(Published, read_yaml(text, name), f"figures of {name}")
