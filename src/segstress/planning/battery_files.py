"""Batteries: attacks in an order, and how a part of them is chosen where all would cost too much."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ..core import BadInput, digest, settings, to_plain
from ..core.quantities import Count
from ..core.registry import suggest
from .reading import checked, read_file, read_yaml


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str | Mapping) else value


def _share(value: Any) -> Any:
    """Read a share written as a number or in percent."""
    return float(value.rstrip("% ")) / 100 if isinstance(value, str) and value.endswith("%") else value


Specs = Annotated[list[str | dict[str, Any]], BeforeValidator(_listed)]
Share = Annotated[float, BeforeValidator(_share), Field(ge=0, lt=1)]


@settings
class Battery:
    """Attacks in their order. With an audit, a sample of the images gets all and decides what the rest gets."""

    perturbations: Specs
    about: str = ""
    version: Annotated[int, Field(ge=1)] = 1  # raised whenever its attacks or rules change, and named with every figure
    audit: Share = 0.0  # of the images that get all attacks first; 0 = no choice is made
    fewest: Count = 8  # images of an audit
    core: Annotated[int, Field(ge=0)] = 0  # so many of the first attacks are always kept
    tolerance: Share = 0.0  # by which the kept attacks' worst case of the sample may stay above that of all
    spend: Annotated[float, BeforeValidator(_share), Field(gt=0, le=1)] = 1.0  # most of the passes of all on all

    def sample(self, images: int) -> int:
        """Count the images that get all attacks."""
        return min(images, max(self.fewest, round(self.audit * images)))

    def rest(self, images: int) -> float:
        """Return the share of the passes of all attacks that is left for an image outside the sample."""
        sample = self.sample(images)
        return max(self.spend * images - sample, 0) / max(images - sample, 1)


def label(name: str, settings: Battery) -> str:
    """Name a battery as figures do: `strong v1`; one of the user's also by a hash of what it says."""
    own = "" if name in batteries() else f" ({digest(to_plain(settings))})"
    return f"{Path(name).name} v{settings.version}{own}"


def batteries() -> list[str]:
    """List the batteries of attacks that come with the package."""
    return sorted(_stored("attacks"))


def local_batteries() -> dict[str, dict[str, Any]]:
    """Return the batteries of localized damage that come with the package: what is written in each."""
    return {name: read_yaml(path.read_text(), name) for name, path in sorted(_stored("spatial").items())}


def _stored(sort: str) -> dict[str, Traversable]:
    folder = files("segstress").joinpath("plans/batteries", sort)
    return {Path(path.name).stem: path for path in folder.iterdir() if path.name.endswith(".yaml")}


def battery(name: str) -> Battery:
    """Read a battery by name or path; `base` names another whose attacks it takes."""
    if name in batteries():
        plain = read_yaml(_stored("attacks")[name].read_text(), name)
    elif name.endswith((".yaml", ".yml")):
        plain = read_file(Path(name), "expected a battery in YAML")
    elif name in local_batteries():
        command = local_batteries()[name]["command"]
        raise BadInput(f"battery '{name}' is one of localized damage: segstress {command} --battery {name}")
    else:
        hint = suggest(name, [*batteries(), *local_batteries()])
        raise BadInput(f"unknown battery '{name}'; {hint}, or give the path of a .yaml file")
    if "base" in plain:
        plain["perturbations"] = battery(plain.pop("base")).perturbations
    if "perturbations" not in plain:
        raise BadInput(f"battery {name}: expected 'perturbations' or 'base', found {sorted(plain)}")
    return checked(Battery, plain, f"battery {name}")
