"""What papers print, as data that comes with the package: each figure with the table that it stands in."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ..core import BadInput, settings
from .reading import checked, read_yaml

FOLDER = "plans/papers/published"


@settings
class PublishedModel:
    """The figures of one model: percent, 1/255 for sizes, or places."""

    source: str  # table
    figures: dict[str, float]
    plan: str = ""  # protocol that asks for them; none = a competition
    network: str = ""  # what the model is, in the words of the protocol's networks; none = a competition
    model: Annotated[int, Field(ge=0)] = 0  # which of the protocol's models it is


@settings
class Published:
    """What one paper prints."""

    about: str
    models: dict[str, PublishedModel]

    def of(self, name: str | None) -> PublishedModel:
        """Return the figures of one of its models, the first where none is named."""
        wanted = name or next(iter(self.models))
        if wanted not in self.models:
            raise BadInput(f"--as: the paper prints no '{wanted}'; it has {', '.join(self.models)}")
        return self.models[wanted]


def published_names() -> list[str]:
    """Return the papers whose figures are stored."""
    return sorted(Path(path.name).stem for path in files("segstress").joinpath(FOLDER).iterdir())


def published(name: str) -> Published:
    """Read what a paper prints."""
    if name not in published_names():
        raise BadInput(f"unknown paper '{name}'; known: {', '.join(published_names())}")
    text = files("segstress").joinpath(FOLDER, f"{name}.yaml").read_text(encoding="utf-8")
    return checked(Published, read_yaml(text, name), f"figures of {name}")
