"""Commands about damage to part of an image: spatial, multi-attack, ensemble, and corrupt, which only writes images."""

from __future__ import annotations

import math
from typing import Any

import typer

from . import options
from . import spatial_options as own
from .bundles import EvaluationOptions
from .console import console, show_json, show_line
from .running import show_errors
from .spatial_run import damage_and_report, refuse_beside_battery

# Rooms are imported inside the commands: they bring torch, and `segstress --help` should not wait for it.


MOST = 1000  # numbers of a range


def spatial(
    model: options.Model,
    data: options.Data,
    common: EvaluationOptions,
    context: typer.Context,
    corruption: own.Corruptions = "snow,gaussian_noise,brightness",
    severity: own.Severities = "1,3,5",
    ratio: own.Ratios = "0.5",
    patch: own.PatchSize = 64,
    mode: own.Mode = "exact",
    masks: own.Masks = 1,
    distances: own.Distances = "",
    apply: own.Apply = "whole",
    stage: own.Stage = "native",
    positions: own.Positions = False,
    battery: own.BatteryName = None,
) -> None:
    """Damage part of every image and see what is lost there, and what elsewhere.

    Example: segstress spatial --model compact:cnn-normal --data shapes:test --corruption snow --ratio 0.5 --patch 24
    """
    from ..planning.spatial import corruption_specs, patch_regions, slid_regions, spatial_battery

    refuse_beside_battery(context)
    regions: list[Any] = [None] if "whole" in ratio.split(",") else []
    regions += patch_regions(_numbers(ratio.replace("whole", "")), patch, masks, mode)
    regions += slid_regions(data[0], patch, native=stage == "native") if positions else []
    if not regions and battery is None:
        raise typer.BadParameter("expected --ratio with one share or more, or whole, or --positions; found none")
    rules = {"apply": apply, "stage": stage, "distances": _numbers(distances)}
    damage = corruption_specs(corruption.split(","), _some(severity), regions, **rules)
    damage_and_report(common, model, data, spatial_battery(battery) if battery else damage, "spatial")


def multi_attack(
    model: options.Model,
    data: options.Data,
    common: EvaluationOptions,
    context: typer.Context,
    box: own.Boxes = "24",
    position: own.Places = "centre",
    number: own.Number = 3,
    steps: own.Steps = "50",
    eps: own.Radii = "16/255",
    loss: own.Loss = "ce",
    target: options.Target = None,
    every_iterate: own.EveryIterate = False,
    distances: own.Distances = "",
    battery: own.BatteryName = None,
) -> None:
    """Attack a square of every image several times, each time what still stands outside of it.

    Example: segstress multi-attack --model compact:cnn-normal --data shapes:test --box 24 --steps 20 --limit 8
    """
    from ..planning.spatial import multi_attack_spec, spatial_battery

    refuse_beside_battery(context)
    specs = [
        multi_attack_spec(side, anchor, count, radius, number, loss, target)
        | {"every_iterate": every_iterate, "distances": _numbers(distances)}
        for side in _whole(box)
        for anchor in position.split(",")
        for count in _whole(steps)
        for radius in eps.split(",")
    ]
    damage_and_report(common, model, data, spatial_battery(battery) if battery else specs, "multi-attack")


def ensemble(
    members: own.Members,
    data: options.Data,
    common: EvaluationOptions,
    context: typer.Context,
    weights: own.Weights = "0:1:0.1",
    corruption: own.Corruptions = "snow,gaussian_noise,brightness",
    severity: own.Severities = "3",
    ratio: own.Ratios = "0.5",
    patch: own.PatchSize = 64,
    mode: own.Mode = "exact",
    apply: own.Apply = "whole",
    box: own.Boxes = "24",
    number: own.Number = 3,
    steps: own.Steps = "50",
    eps: own.Radii = "16/255",
    battery: own.BatteryName = None,
) -> None:
    """Mix two models at several weights: clean error, CE_Nat and CE_Adv of every mixture.

    Example: segstress ensemble compact:cnn-normal compact:transformer-normal --data shapes:test --weights 0:1:0.5
    """
    from ..evaluation.ensemble import check_damage, ensemble_report, mixtures
    from ..planning.spatial import corruption_specs, multi_attack_spec, patch_regions, spatial_battery

    refuse_beside_battery(context)
    if len(members) != 2:
        raise typer.BadParameter(f"expected two models, found {len(members)}")
    if len(data) != 1:
        raise typer.BadParameter(f"expected one dataset, on which all mixtures are compared; found {len(data)}")
    mixed = mixtures(members[0], members[1], _range(weights))
    regions = patch_regions(_some(ratio), patch, mode=mode)
    specs = corruption_specs(corruption.split(","), _some(severity), regions, apply=apply)
    specs += [
        multi_attack_spec(side, "centre", count, radius, number)
        for side in _whole(box)
        for count in _whole(steps)
        for radius in eps.split(",")
    ]
    damage = spatial_battery(battery) if battery else specs
    check_damage(damage)

    def tell(words: str) -> None:
        console.print(words, soft_wrap=True)

    def warn(words: str) -> None:
        show_line("warning:", words, "yellow")

    damage_and_report(
        common,
        list(mixed.values()),
        data,
        damage,
        "ensemble",
        lambda run, results: ensemble_report(run, results, mixed, tell, warn),
    )


def corrupt(
    data: options.Data,
    export: own.Export,
    corruption: own.Corruptions = "common15",
    severity: own.Severities = "3",
    region: own.RegionSpec = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Write corrupted images and their regions as PNG, with a manifest of hashes.

    Example: segstress corrupt --data shapes:test --corruption fog,snow --severity 1,3 --export corrupted
    """
    from ..data import load
    from ..evaluation.corrupt import corrupts
    from ..evaluation.corrupt import export as write_images
    from .progress import watch

    errors: list[str] = []
    written: list[dict[str, Any]] = []
    changes = corrupts(corruption.split(","), _some(severity), region=region)
    for source in map(load, data):
        ids = EvaluationOptions(limit=limit).plan(models=[], data=data).ids(source)
        with watch(console, "corrupting") as progress:
            progress.begin(len(ids))
            done = write_images(source, ids, changes, export / source.label, seed or 0, progress.advance)
        console.print(f"{done.images} images: {done.manifest}", soft_wrap=True)
        written.append({"data": source.label, "images": done.images, "manifest": str(done.manifest)})
        errors += done.errors
    if as_json:
        show_json({"written": written, "errors": errors})
    show_errors(errors)


def _numbers(text: str) -> list[float]:
    """Return numbers separated by commas."""
    try:
        numbers = [float(part) for part in text.split(",") if part]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise typer.BadParameter(f"expected numbers separated by commas, found '{text}'")
    return numbers


def _some(text: str) -> list[float]:
    """Return one number or more, separated by commas."""
    numbers = _numbers(text)
    if not numbers:
        raise typer.BadParameter(f"expected one number or more, separated by commas, found '{text}'")
    return numbers


def _whole(text: str) -> list[int]:
    """Return whole numbers above 0, separated by commas."""
    numbers = _numbers(text)
    if not numbers or any(number < 1 or number % 1 for number in numbers):
        raise typer.BadParameter(f"expected whole numbers above 0 separated by commas, found '{text}'")
    return [int(number) for number in numbers]


def _range(text: str) -> list[float]:
    """Return `0:1:0.1`, both ends included, or numbers separated by commas."""
    if ":" not in text:
        return _numbers(text)
    ends = _numbers(text.replace(":", ","))
    first, last, step = ends if len(ends) == 3 else (0.0, 0.0, 0.0)
    if step <= 0 or last < first:
        raise typer.BadParameter(f"expected from:to:step with a positive step, found '{text}'")
    if (last - first) / step > MOST:
        raise typer.BadParameter(f"expected at most {MOST} steps, found '{text}'")
    inner = [first + step * number for number in range(math.ceil((last - first) / step - 1e-9))]
    return [*inner, last]
