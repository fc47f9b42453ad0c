"""The straight line of a training: network, recipe, launch, a folder with a model that can be stressed."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import yaml
from torch import nn

from ..core import BadInput, import_source, to_plain
from ..core.files import write
from ..data import load as load_data
from ..models import models
from ..models.weights import fill
from ..planning.perturbing import read_perturbation
from ..planning.reading import read_yaml
from ..runtime import RunOptions
from ..runtime.addresses import mirror_of
from ..runtime.elsewhere import named_files
from ..runtime.executors import needing_ray, ray_cluster
from ..runtime.launch import launch, leads
from ..runtime.sharing import share
from ..training import (
    Augmentation,
    Checkpoints,
    Moment,
    Recipe,
    Task,
    Watcher,
    fit,
    optimisers,
    recipes,
    schedules,
)
from ..training.batches import Reader
from ..training.trainee import Trainee, adapt
from .cautions import cautions
from .plan import TrainingPlan
from .plan import read_training_plan as read_training_plan  # locked claims look for it here

News = Moment | dict[str, Any] | str  # a step, an epoch or a warning


def train(plan: TrainingPlan, out: Path, watcher: Watcher | None = None, command: str = "") -> Path:
    """Train as the plan says, from wherever its folder stands; returns the checkpoint of the last epoch."""
    for plugin in plan.plugins:
        import_source(plugin)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        _refuse_mirror(out)
    with share(out, "") if leads() else nullcontext():
        if leads():
            _admit(plan, out)
        launch(lambda device: _fit(plan, out, watcher or Watcher(), device, command), plan.device, plan.threads)
    return out / "last.safetensors"


def _fit(plan: TrainingPlan, out: Path, watcher: Watcher, device: str, command: str) -> None:
    """Train in this process, after a word on what may be meant otherwise."""
    task = task_of(plan, device, command)
    for message in task.card.get("warnings", ()):
        watcher.warn(message)
    fit(task, Checkpoints(out, write), watcher)


@dataclasses.dataclass(frozen=True)
class TrainingWork:
    """A training as one of several processes does it; travels to a worker."""

    plan: TrainingPlan
    folder: Path
    command: str = ""

    @property
    def device(self) -> str:
        """On what each process computes."""
        return self.plan.device

    def __call__(self, tell: Callable[[News], None]) -> Path:
        """Train; the first process tells of steps, epochs and warnings."""
        watcher = Watcher(step=tell, epoch=tell, warn=tell) if leads() else None
        return train(self.plan, self.folder, watcher, self.command)


def train_on_ray(work: TrainingWork, run_options: RunOptions, watcher: Watcher) -> Path:
    """Train by Ray Train; its processes and as many of torchrun go on with each other's states."""

    def hear(news: News) -> None:
        match news:
            case str():
                watcher.warn(news)
            case dict():
                watcher.epoch(news)
            case _:
                watcher.step(news)

    _refuse_mirror(work.folder)
    cluster = ray_cluster(run_options, work.plan.threads)
    with needing_ray():
        from ..runtime.ray_training import train_together

    files = named_files(to_plain(work.plan))
    made: Path = train_together(cluster, work, hear, watcher.warn, tuple(files))
    return made


def _refuse_mirror(out: Path) -> None:
    """Refuse an address where processes train together: each would have a folder of its own."""
    if mirror_of(out) is not None:
        raise BadInput(
            f"{out}: processes that train together need one folder; train in one that all reach, then copy it: "
            "segstress publish FOLDER ADDRESS"
        )


def task_of(plan: TrainingPlan, device: str = "cpu", command: str = "") -> Task:
    """Return what the plan's specs stand for."""
    recipe, data = recipes.build(plan.recipe), load_data(plan.data)
    unseen = None if plan.validation is None else load_data(plan.validation)
    network, optimiser = _trainee(plan, recipe, len(data.classes)), optimisers.build(plan.optimiser)
    card = {"architecture": models.spec(models.build(plan.model)), "command": command, "plan": to_plain(plan)}
    warnings = list(cautions(plan, optimiser, network))
    return Task(
        network=network.to(device),
        train=Reader(data, plan.augmentation, plan.seed, plan.kept),
        validation=None if unseen is None else Reader(unseen, Augmentation(), plan.seed, plan.kept),
        recipe=recipe,
        attack=read_perturbation(recipe.attack, {}),
        probe=None if plan.probe is None else read_perturbation(plan.probe, {}),
        optimiser=optimiser,
        schedule=schedules.build(plan.schedule),
        epochs=plan.epochs,
        batch_size=plan.batch_size,
        parts=plan.parts,
        every=plan.every,
        save_every=plan.save_every,
        card=card | ({"warnings": warnings} if warnings else {}),
        device=device,
        mixed=plan.mixed,
        seed=plan.seed,
    )


def _trainee(plan: TrainingPlan, recipe: Recipe, classes: int) -> Trainee:
    """Return the network as the recipe wants it, with the weights that the plan begins with."""
    spec = models.read(plan.model)
    interface = models.build(spec).interface()

    def make(outputs: int) -> nn.Module:
        if outputs != classes:  # branches that only training needs
            return adapt(_branches(spec, outputs), interface)
        network = models.build(spec).network()
        if plan.start is not None:
            fill(network, models.build(plan.start).network().state_dict(), str(plan.start))
        if plan.backbone is not None:
            plan.backbone.fill(network)
        return adapt(network, interface)

    return recipe.trainee(make, classes)


def _branches(spec: Mapping[str, Any], outputs: int) -> nn.Module:
    """Return the architecture with other outputs; its own weights do not fit them."""
    own = dataclasses.fields(models.get(spec["kind"]))
    if "classes" not in {setting.name for setting in own}:
        raise BadInput(
            f"model {spec['kind']}: the recipe needs {outputs} outputs, and this model cannot be given them; take one"
            " whose spec has `classes`, or another recipe"
        )
    weights = ("weights", "weights_key", "rename", "ignore")
    untrained = {key: value for key, value in spec.items() if key not in weights}
    return models.build({**untrained, "classes": outputs}).network()


def _admit(plan: TrainingPlan, out: Path) -> None:
    """Refuse a folder that belongs to another plan; a training that has left nothing yet may be asked otherwise."""
    path, plain = out / "plan.yaml", to_plain(plan)
    if path.exists():
        before = read_yaml(path.read_text(), str(path))
        if "recipe" not in before:
            raise BadInput(f"{path} is no plan of a training; choose another --out")
        changed = [f"{key} {before.get(key)} -> {plain[key]}" for key in plain if before.get(key) != plain[key]]
        if changed and Checkpoints(out, write).begun():
            raise BadInput(f"{out} holds another training ({'; '.join(changed)}); choose another --out")
    write(path, yaml.safe_dump(plain, sort_keys=False).encode())
