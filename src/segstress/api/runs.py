"""Runs from Python: each is what the command of the same name does, in this process unless workers are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from ..core import BadInput, Spec
from ..evaluation.run import evaluate as evaluate_plan
from ..planning.minimal import specs as searches
from ..planning.plan import Plan, read_plan
from ..planning.spatial import corruption_specs, patch_regions, spatial_battery, too_large
from ..runtime import Progress, RunOptions
from .asking import attack_list, data_settings, model_settings, plan_of
from .process import ResultFolder, here, listener
from .results import Evaluated, LocalDamage, SmallestChanges

Numbers = float | Sequence[float]
Ignored = int | Sequence[int] | None


def evaluate(
    model: nn.Module | Spec | Plan | Path,
    data: Any = None,
    *,
    battery: str | None = None,
    attack: str | Sequence[Spec] | None = None,
    eps: str | float | Sequence[str | float] | None = None,
    classes: int | Sequence[str] | None = None,
    ignore: Ignored = 255,
    name: str = "",
    interface: Mapping[str, Any] | None = None,
    resize: str | None = None,
    out: Path | str | None = None,
    workers: int = 1,
    run_options: RunOptions | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Evaluated:
    """Attack a model on images and keep the worst of every image; or carry out a plan, given in the model's place.

    `model` is a module or a spec, `data` a torch dataset, pairs (image, mask), two tensors or a spec. A module comes
    back as it was. Other settings are those of a plan: norm, limit, seed, target, exhaustive, batch_size, device ...
    Results go to `out`; without it those of a plan to runs/<name>, all others to a temporary folder, which goes with
    the result unless `result.keep()` or `result.report()` was called.
    """
    with here(model):
        options = run_options or RunOptions(workers=workers)
        if data is None:
            plan = _whole_plan(model, battery=battery, attack=attack, eps=eps, **settings)
            done = evaluate_plan(plan, out, options, listener(progress))
            return Evaluated(done.folder, done.errors, done.notes)
        if isinstance(model, Plan | Path):
            raise BadInput("evaluate: a plan says its data itself; give the plan alone, or model and data")
        plan_settings = {"battery": battery, "perturbations": attack_list(attack), "eps": eps, **settings}
        if not any(plan_settings.get(key) for key in ("battery", "perturbations", "objects", "pixels")):
            raise BadInput(
                'evaluate: say what to do to the images, e.g. battery="quick" or attack="pgd", and eps="8/255"'
            )
        given = model_settings(model, name, interface or {})
        source = data_settings(data, given, classes, ignore, resize)
        plan = plan_of(model, given, source, plan_settings)
        _stay_here(model, data, options)
        folder = ResultFolder(out)
        done = evaluate_plan(plan, folder.path, options, listener(progress))
        return Evaluated(done.folder, done.errors, done.notes, (model, source, folder))


def minimal(
    model: nn.Module | Spec,
    data: Any,
    *,
    attack: str | Sequence[str] = "annealed-border,annealed-border-plain",
    enough: Numbers = 0.99,
    norm: str | None = None,
    target: int | str | None = None,
    reference: str = "truth",
    out: Path | str | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    **settings: Any,
) -> SmallestChanges:
    """Search the smallest change that breaks a model on every image; arguments as for `evaluate`."""
    names = [name for name in attack_list(attack) if isinstance(name, str)]
    threat = {"norm": norm, "target": target, "reference": reference}
    plan_settings = {"perturbations": searches(names, _several(enough), **threat)}
    return SmallestChanges(*_run(model, data, plan_settings | settings, out, workers, progress))


def spatial(
    model: nn.Module | Spec,
    data: Any,
    *,
    corruption: str | Sequence[str] = "snow,gaussian_noise,brightness",
    severity: Numbers = (1, 3, 5),
    ratio: Numbers = 0.5,
    patch: int = 64,
    masks: int = 1,
    battery: str | None = None,
    out: Path | str | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    **settings: Any,
) -> LocalDamage:
    """Damage part of every image: what is lost there, and what elsewhere; arguments as for `evaluate`."""
    names = corruption.split(",") if isinstance(corruption, str) else list(corruption)
    patches = patch_regions(_several(ratio), patch, masks)
    damage = spatial_battery(battery) if battery else corruption_specs(names, _several(severity), patches)
    plan_settings = {"perturbations": damage, "exhaustive": True}
    return LocalDamage(*_run(model, data, plan_settings | settings, out, workers, progress, warn=True))


def _run(
    model: nn.Module | Spec,
    data: Any,
    plan_settings: Mapping[str, Any],
    out: Path | str | None,
    workers: int,
    progress: Progress | None,
    *,
    warn: bool = False,
) -> tuple[Path, tuple[str, ...], tuple[str, ...], tuple[object, ...]]:
    """Return one model on one dataset; folder, errors, notes, and what must not be forgotten."""
    plain = dict(plan_settings)
    own = {key: plain.pop(key) for key in ("classes", "ignore", "resize") if key in plain}
    name, interface = plain.pop("name", ""), plain.pop("interface", None) or {}
    with here(model):
        given = model_settings(model, name, interface)
        source = data_settings(data, given, **own)
        plan, options, heard = plan_of(model, given, source, plain), RunOptions(workers=workers), listener(progress)
        _stay_here(model, data, options)
        for line in too_large(plan) if warn else ():
            heard.warn(line)
        folder = ResultFolder(out)
        done = evaluate_plan(plan, folder.path, options, heard)
        return done.folder, done.errors, done.notes, (model, source, folder)


def _whole_plan(plan: Any, **beside: Any) -> Plan:
    """Return a plan in the place of a model: it says everything itself."""
    said = [key for key, value in beside.items() if value is not None]
    if isinstance(plan, nn.Module):
        raise BadInput("evaluate: data is missing; give a torch dataset, pairs (image, mask) or two tensors")
    if said:
        raise BadInput(f"evaluate: a plan says {said[0]} itself; put it into the plan, or give model and data instead")
    return plan if isinstance(plan, Plan) else read_plan(plan)


def _stay_here(model: object, data: object, options: RunOptions) -> None:
    """Refuse workers: what lives in this process cannot be handed to another."""
    for what, given in (("model", model), ("data", data)):
        if isinstance(given, str | Mapping):
            continue
        if options.workers != 1:
            raise BadInput(f"workers={options.workers}: a {what} in memory stays in this process; leave workers out")
        if options.executor != "local":
            raise BadInput(f"executor={options.executor}: a {what} in memory stays in this process; leave it out")


def _several(value: Numbers) -> list[float]:
    return [float(value)] if isinstance(value, int | float) else [float(number) for number in value]
