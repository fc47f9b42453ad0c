"""The papers' protocols as plans that come with the package; the user brings data and weights."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from ..core import BadInput, settings
from ..core.quantities import Count
from .plan import Plan, read_plan
from .reading import checked, read_yaml
from .spatial import spatial_battery

Page = Literal["study", "minimal", "spatial", "contest"]


@settings
class Paper:
    """A protocol: what it is, the page that shows its figures, and what is asked."""

    about: str
    page: Page = "study"
    networks: tuple[str, ...] = ()  # what its models are, in their order; of a competition they are the user's
    images: Count  # of its data; of a competition those that were judged
    stand_in: str = ""  # what of the paper's, if anything, its target stands in for
    plan: dict[str, Any]


def papers() -> list[str]:
    """Return the names of all protocols."""
    return sorted(Path(path.name).stem for path in _folder().iterdir() if path.is_file())


def paper(name: str) -> Paper:
    """Read a protocol; where it names a battery of localized damage, that is what is asked."""
    if name not in papers():
        close = difflib.get_close_matches(name, papers(), n=1)
        hint = f"did you mean '{close[0]}'?" if close else "segstress list plans names them."
        raise BadInput(f"unknown plan '{name}'; {hint} A plan of your own is the path of a .yaml file")
    plain = read_yaml(_folder().joinpath(f"{name}.yaml").read_text(encoding="utf-8"), name)
    own: dict[str, Any] = {
        key: plain.pop(key) for key in ("about", "page", "networks", "images", "stand_in") if key in plain
    }
    if "spatial" in plain:
        plain["perturbations"] = spatial_battery(plain.pop("spatial"))
    return checked(Paper, {**own, "plan": plain}, f"plan {name}")


def named_plan(source: Path, changes: Mapping[str, Any]) -> tuple[Plan, Page]:
    """Read a plan from a file, or that of a paper by its name, with another model, data ...; and the page for it."""
    given = {key: value for key, value in changes.items() if value not in (None, [])}
    protocol = paper_at(source)
    if protocol is None:
        return read_plan(source, given), "study"
    if protocol.page == "contest":
        raise BadInput(
            f"plan {source} is of a competition; hold it by segstress reproduce mad --data POOL --model A --model B"
        )
    return read_plan(protocol.plan, given), protocol.page


def paper_at(source: Path) -> Paper | None:
    """Return the protocol of that name; none where it is the path of a user's own plan."""
    return None if source.suffix or source.exists() else paper(str(source))


def _folder() -> Traversable:
    return files("segstress").joinpath("plans/papers")
