"""Options that go together: a command names the bundle, and has all its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from . import options
from .addresses import folders_here
from .names import check_battery, check_names, check_plan

if TYPE_CHECKING:
    from ..planning import Plan
    from ..runtime import RunOptions


@dataclass(frozen=True)
class WorkerOptions:
    """Who works, and where, and what is printed: of every command that has workers; none of it changes a result."""

    workers: options.Workers = 0
    executor: options.Executor = "local"
    ray_address: options.RayAddress = ""
    gpus_per_worker: options.GpusPerWorker = 0.0
    as_json: options.Json = False
    plugin: options.Plugins = None

    def options(self, **others: Any) -> RunOptions:
        """Return the same, as runs understand it, with others that a command has by itself."""
        from ..runtime import RunOptions

        own = {field.name: getattr(self, field.name) for field in fields(RunOptions) if hasattr(self, field.name)}
        return RunOptions(**own, **others)


@dataclass(frozen=True)
class PassOptions:
    """On what a model computes; what is not given is as the plan or the run has it."""

    device: options.Device = None
    threads: options.Threads = None
    dtype: options.Dtype = None

    def numerics(self) -> dict[str, Any]:
        """Return what was given of the numerics."""
        from ..runtime import Numerics

        return given(self, *(field.name for field in fields(Numerics)))


@dataclass(frozen=True)
class NumericsOptions(PassOptions):
    """All that rounding depends on."""

    batch_size: options.BatchSize = None
    fold: options.Fold = None
    channels_last: options.ChannelsLast = None


@dataclass(frozen=True)
class EvaluationOptions(NumericsOptions, WorkerOptions):
    """How a run is carried out, and what every plan may say; a plan that is there already may be given it too."""

    out: options.Out = None
    part: options.Part = ""
    shard_size: options.ShardSize = 0
    retry_errors: options.RetryErrors = False
    other_numerics: options.OtherNumerics = False
    keep_images: options.KeepImages = None
    limit: options.Limit = None
    seed: options.Seed = None

    def folder(self, default: str) -> Path:
        """Tell where the results lie."""
        return self.out or Path("runs") / default

    def settings(self) -> dict[str, Any]:
        """Return what was given of a plan."""
        plain = given(self, "keep_images", "limit", "seed") | {"numerics": self.numerics(), "plugins": self.plugin}
        return {key: value for key, value in plain.items() if value not in (None, {}, [])}

    def plan(self, **settings: Any) -> Plan:
        """Return the plan that the options of a command spell out."""
        from ..planning import read_plan

        return read_plan({**self.settings(), **settings})


@dataclass(frozen=True)
class AttackOptions:
    """Which attacks are asked for, what they may do, and how many of them an image is spared."""

    attack: options.Attacks = None
    battery: options.Battery = None
    objects: options.Objects = False
    pixels: options.Pixels = None
    alone: options.Alone = None
    eps: options.Eps = None
    norm: options.Norm = None
    target: options.Target = None
    weights: options.Weights = None
    exhaustive: options.Exhaustive = False
    done_at: options.DoneAt = None
    budget: options.Budget = None

    def typed(self) -> list[str]:
        """Return those that were given, as they are typed."""
        changed = [field.name for field in fields(self) if getattr(self, field.name) != field.default]
        return [f"--{name.replace('_', '-')}" for name in changed]

    def settings(self) -> dict[str, Any]:
        """Return their part of a plan; refused where nothing, or two things at once, are asked for."""
        parts = self.objects or bool(self.pixels)
        if (self.attack and self.battery) or not (self.attack or self.battery or parts):
            raise typer.BadParameter(
                "give either --attack NAME[,NAME...] or --battery NAME, or --objects or --pixels N"
            )
        if self.alone and not parts:
            raise typer.BadParameter("--alone says how --objects or --pixels are attacked; give one of them")
        settings = given(self, *(field.name for field in fields(self)))
        attack = settings.pop("attack", None)
        return {**settings, "perturbations": attack.split(",") if attack else []}


def given(bundle: Any, *names: str) -> dict[str, Any]:
    """Return those options of a bundle, by these names, that were given."""
    values = {name: getattr(bundle, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


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
        if value and hint in (options.Model, options.SomeModel, options.OneModel):
            check_names("model", value)
        elif value and hint in (options.Data, options.SomeData, options.OneData):
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
