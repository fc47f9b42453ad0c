"""Perturbations of parts of images from a few settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core import BadImage, BadInput, Spec, to_plain
from ..core.registry import suggest
from ..corruptions import expand
from ..data import load as load_data
from ..data import resize
from .battery_files import batteries, local_batteries
from .plan import Plan
from .reading import read_yaml


def corruption_specs(
    names: Sequence[str], severities: Sequence[float], regions: Sequence[Spec | None], **options: Any
) -> list[dict[str, Any]]:
    """Combine every corruption (suites are expanded), severity and region; none = the whole image."""
    return [
        {"kind": "corrupt", "corruption": name, "severity": severity, "region": region, **options}
        for name in expand(names)
        for severity in severities
        for region in regions
    ]


def multi_attack_spec(
    side: int, position: str, steps: int, eps: str, number: int = 3, loss: str = "ce", target: str | None = None
) -> dict[str, Any]:
    """Write the region-aware multi-attack on one square, with the step of the paper."""
    return {
        "kind": "multi-attack",
        "threat": {"radius": eps, "target": target},
        "region": {"kind": "box", "position": position, "height": side, "width": side},
        "attack": {"kind": "pgd-region", "steps": steps, "loss": loss},
        "number": number,
    }


def spatial_battery(name: str) -> list[Any]:
    """Read the perturbations of a battery of localized damage, by name or from a YAML file."""
    known = local_batteries()
    if name in known:
        plain = known[name]
    elif name.endswith((".yaml", ".yml")) and Path(name).is_file():
        plain = read_yaml(Path(name).read_text(), name)
    elif name in batteries():
        raise BadInput(f"battery '{name}' is one of attacks: segstress attack --battery {name}")
    else:
        raise BadInput(f"unknown battery '{name}'; {suggest(name, known)}, or give the path of a .yaml file")
    corrupted = corruption_specs(**plain["corruptions"]) if "corruptions" in plain else []
    return [*corrupted, *plain.get("perturbations", [])]


def patch_regions(ratios: Sequence[float], size: int, draws: int = 1, mode: str = "exact") -> list[dict[str, Any]]:
    """Make regions of patches: every ratio, and as many masks of each as asked for."""
    return [
        {"kind": "patches", "ratio": ratio, "size": size, "draw": draw, "mode": mode}
        for ratio in ratios
        for draw in range(draws)
    ]


def slid_regions(data: Spec, size: int, *, native: bool = True) -> list[dict[str, Any]]:
    """Return one patch in every cell of the grid over the dataset's first readable image, native or as seen."""
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
    """Warn about patches and boxes that do not fit into the images of a dataset."""
    for spec in plan.data:
        for change in plan.changes():
            height, width = _sides(spec, change.stage == "native")
            region = {} if change.region is None else to_plain(change.region)
            tall, wide = (region.get("size", region.get(side, 0)) for side in ("height", "width"))
            if tall > height or wide > width:
                yield f"{change.label}: {tall} x {wide} pixels do not fit into {height} x {width}, so they are cut"
