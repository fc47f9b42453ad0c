"""Localized damage from question to page: plans from a few settings, and the page of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..core import BadImage, BadInput, Spec
from ..corruptions import expand
from ..data import load as load_data
from ..data import resize
from ..reports.naming import percent
from ..reports.spatial import HEADLINE, Spot
from ..reports.spatial_figures import drawings
from ..reports.spatial_page import write_page
from ..reports.spatial_tables import attacked, common, masks, overview, scores
from .plan import Plan, read_yaml
from .spatial_results import scenes, spots


def corruption_specs(
    names: Sequence[str], severities: Sequence[float], places: Sequence[Spec | None], **options: Any
) -> list[dict[str, Any]]:
    """Every corruption (suites are expanded) at every severity in every region; none = the whole image."""
    return [
        {"kind": "corrupt", "corruption": name, "severity": severity, "region": place, **options}
        for name in expand(names)
        for severity in severities
        for place in places
    ]


def multi_attack_spec(
    side: int, position: str, steps: int, eps: str, number: int = 3, loss: str = "ce"
) -> dict[str, Any]:
    """The region-aware multi-attack on one square, with the step of the paper."""
    return {
        "kind": "multi-attack",
        "threat": {"radius": eps},
        "region": {"kind": "box", "position": position, "height": side, "width": side},
        "attack": {"kind": "pgd", "steps": steps, "step": "4/255", "random_start": False, "loss": loss},
        "number": number,
    }


def stored_specs(name: str) -> list[Any]:
    """The perturbations of a packaged plan, by name, or of a YAML file."""
    folder = files("segstress").joinpath("plans/spatial")
    known = sorted(Path(path.name).stem for path in folder.iterdir())
    if name in known:
        plain = read_yaml(folder.joinpath(f"{name}.yaml").read_text(), name)
    elif name.endswith((".yaml", ".yml")) and Path(name).is_file():
        plain = read_yaml(Path(name).read_text(), name)
    else:
        raise BadInput(f"unknown plan '{name}'; known: {', '.join(known)}, or the path of a .yaml file")
    corrupted = corruption_specs(**plain["corruptions"]) if "corruptions" in plain else []
    return [*corrupted, *plain.get("perturbations", [])]


def patch_places(ratios: Sequence[float], size: int, draws: int = 1) -> list[dict[str, Any]]:
    """Regions of patches: every ratio, and as many masks of each as asked for."""
    return [
        {"kind": "patches", "ratio": ratio, "size": size, "draw": draw} for ratio in ratios for draw in range(draws)
    ]


def slid_places(data: Spec, size: int, *, native: bool = True) -> list[dict[str, Any]]:
    """One patch in every place of the grid over the dataset's first readable image, native or as the model sees it."""
    height, width = _sides(data, native)
    corners = [(top, left) for top in range(0, height, size) for left in range(0, width, size)]
    return [{"kind": "rectangle", "top": top, "left": left, "height": size, "width": size} for top, left in corners]


def _sides(spec: Spec, native: bool) -> tuple[int, int]:
    data = load_data(spec)
    for id_ in data.ids():
        try:
            sample = data.read(id_)
        except BadImage:
            continue
        height, width = (sample if native else resize(sample, data.resize)).labels.shape
        return int(height), int(width)
    raise BadInput(f"dataset {data.name}: no image can be read")


def too_large(plan: Plan) -> Iterator[str]:
    """Warnings about patches and boxes that do not fit into the images of a dataset."""
    for spec in plan.data:
        for change in plan.changes():
            height, width = _sides(spec, getattr(change, "stage", "network") == "native")
            region = getattr(change, "region", None)
            tall = getattr(region, "size", getattr(region, "height", 0))
            wide = getattr(region, "size", getattr(region, "width", 0))
            if tall > height or wide > width:
                yield f"{change.label}: {tall} x {wide} pixels do not fit into {height} x {width}, so they are cut"


def spatial_report(folder: Path, out: Path | None = None, extra: Mapping[str, Any] | None = None) -> Path:
    """Write the page of localized damage; its path. Extra tables and drawings come first."""
    found = spots(folder)
    if not found:
        raise BadInput(f"{folder} holds no corruption and no localized attack; expected a run of segstress spatial")
    local = [spot for spot in found if spot.region and spot.goal == "any" and not spot.corner]
    given = extra or {}
    tables = [*given.get("tables", ()), overview(local), attacked(found), common(found), masks(found), scores(found)]
    figures = [*given.get("drawings", ()), *drawings(found)]
    return write_page(
        out or folder / "spatial", folder.resolve().name, headline(found), tables, figures, scenes(folder)
    )


def headline(found: Sequence[Spot]) -> str:
    """The run in one sentence: where damage to a part hurts the rest most."""
    outside = [spot for spot in found if not math.isnan(spot.rce(HEADLINE, "outside"))]
    zone, judged = ("outside", outside) if outside else ("all", list(found))
    worst = max(judged, key=lambda spot: spot.rce(HEADLINE, zone))
    place = "outside of what was damaged" if outside else "on the whole image"
    lost = percent(worst.rce(HEADLINE, zone))
    return f"{worst.model} loses up to {lost} % of its class-mean accuracy {place} ({worst.what} {worst.strength})."
