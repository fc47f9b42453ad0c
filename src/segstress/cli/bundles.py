"""Options that go together: a command names the bundle, and has all its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from . import options
from .addresses import folders_here
from .names import check_battery, check_names, check_plan

if TYPE_CHECKING:
    from ..runtime import RunOptions


NUMERICS = ("device", "batch_size", "threads", "dtype", "fold", "channels_last")


@dataclass(frozen=True)
class WorkerOptions:
    """Who works, and where; none of it changes a result."""

    workers: options.Workers = 0
    executor: options.Executor = "local"
    ray_address: options.RayAddress = ""
    gpus_per_worker: options.GpusPerWorker = 0.0

    def options(self) -> RunOptions:
        """Return the same, as runs understand it."""
        from ..runtime import RunOptions

        return RunOptions(
            **{field.name: getattr(self, field.name) for field in fields(RunOptions) if hasattr(self, field.name)}
        )


@dataclass(frozen=True)
class ExecutionOptions(WorkerOptions):
    """How a run is carried out; none of it changes a result."""

    out: options.Out = None
    part: options.Part = ""
    shard_size: options.ShardSize = 0
    retry_errors: options.RetryErrors = False
    other_numerics: options.OtherNumerics = False
    as_json: options.Json = False
    plugin: options.Plugins = None

    def folder(self, default: str) -> Path:
        """Tell where the results lie."""
        return self.out or Path("runs") / default


@dataclass(frozen=True)
class NumericsOptions(ExecutionOptions):
    """On what a run computes, and which images it keeps; a plan that is there already may be given these too."""

    keep_images: options.KeepImages = False
    batch_size: options.BatchSize = 0
    threads: options.Threads = 1
    fold: options.Fold = False
    device: options.Device = "cpu"
    dtype: options.Dtype = "float32"
    channels_last: options.ChannelsLast = False

    def settings(self) -> dict[str, Any]:
        """Return its part of a plan."""
        numerics = {name: getattr(self, name) for name in NUMERICS}
        return {"keep_images": self.keep_images, "plugins": self.plugin or [], "numerics": numerics}


@dataclass(frozen=True)
class EvaluationOptions(NumericsOptions):
    """What a run of any sort looks at, and how; the settings that every plan shares."""

    limit: options.Limit = None
    seed: options.Seed = 0

    def settings(self) -> dict[str, Any]:
        """Return its part of a plan."""
        return {**super().settings(), "limit": self.limit, "seed": self.seed}


@dataclass(frozen=True)
class AttackOptions:
    """Which attacks are asked for, and what they may do."""

    attack: options.Attacks = None
    battery: options.Battery = None
    objects: options.Objects = False
    pixels: options.Pixels = None
    alone: options.Alone = None
    eps: options.Eps = None
    norm: options.Norm = None
    target: options.Target = None
    weights: options.Weights = None

    def settings(self) -> dict[str, Any]:
        """Return their part of a plan; refused where nothing, or two things at once, are asked for."""
        parts = self.objects or bool(self.pixels)
        if (self.attack and self.battery) or not (self.attack or self.battery or parts):
            raise typer.BadParameter(
                "give either --attack NAME[,NAME...] or --battery NAME, or --objects or --pixels N"
            )
        if self.alone and not parts:
            raise typer.BadParameter("--alone says how --objects or --pixels are attacked; give one of them")
        settings = asdict(self)
        attack = settings.pop("attack")
        return {**settings, "perturbations": attack.split(",") if attack else []}


def bundled(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of its bundles."""
    hints = get_type_hints(command, include_extras=True)
    bundles = {name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)}
    own = [parameter for parameter in inspect.signature(command).parameters.values() if parameter.name not in bundles]
    parameters = [
        parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own
    ]
    parameters += [option for bundle in bundles.values() for option in _options(bundle)]  # last in the help

    hints_of_all = {parameter.name: parameter.annotation for parameter in parameters}

    def gathered(**given: Any) -> None:
        if given.get("plugin"):
            _use(given["plugin"])
        else:
            _check(hints_of_all, given)
        with folders_here(given) as given:
            for name, bundle in bundles.items():
                given[name] = bundle(**{field.name: given.pop(field.name) for field in fields(bundle)})
            command(**given)

    gathered.__doc__, gathered.__name__ = command.__doc__, command.__name__
    gathered.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    gathered.__annotations__ = hints_of_all
    return gathered


def _use(plugins: list[str]) -> None:
    """Import what registers more, before anything is looked up by name."""
    from ..core import import_source

    for plugin in plugins:
        import_source(plugin)


def _check(hints: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse names that nothing registers, while torch is not loaded yet."""
    for name, hint in hints.items():
        value = given.get(name)
        if value and hint in (options.Model, options.SomeModel):
            check_names("model", value)
        elif value and hint in (options.Data, options.SomeData):
            check_names("dataset", value)
        elif value and hint == options.Attacks:
            check_names("attack", value.split(","))
        elif value and hint == options.Battery:
            check_battery(value)
        elif value and hint in (options.PlanFile, options.SomePlanFile):
            check_plan(value)


def _options(bundle: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(field.name, kind, default=field.default, annotation=hints[field.name])
        for field in fields(bundle)
    ]
