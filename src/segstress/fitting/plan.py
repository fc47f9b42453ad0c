"""What a training is asked: one plan, from a file, by the name of one that made the zoo, or from the command line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from ..core import BadInput, Seed, settings
from ..core.quantities import Count, Threads
from ..planning.reading import changed, checked, read_yaml
from ..training import Augmentation, Backbone, recipes

Spec = str | dict[str, Any]
MODEL = re.compile(r"[\w-]+(\?|:(?!//)|$)")  # how the spec of a model begins; files have a suffix or a folder


@settings
class TrainingPlan:
    """One training; specs are written as everywhere, `kind:rest?key=value` or a mapping with `kind`."""

    model: Spec = "compact:cnn"  # architecture with fresh weights
    data: Spec = "shapes:train?count=2000"
    recipe: Spec = "normal"
    start: Spec | None = None  # model of the same architecture whose weights training begins with
    backbone: Backbone | None = None  # weights for the features only
    optimiser: Spec = "adamw"
    schedule: Spec = "one-cycle"
    augmentation: Augmentation = Augmentation()
    epochs: Count = 12
    batch_size: Count = 16  # images of a step, over all processes
    parts: Count = 1  # forward passes by which each process makes its share of a step
    validation: Spec | None = None  # images that are never trained on
    probe: Spec | None = None  # short attack under which validation looks as well
    every: Count = 1  # epochs between validations
    save_every: Count = 500  # steps between states from which training can go on
    kept: Annotated[int, Field(ge=0)] = 0  # images held in memory once they are read
    seed: Seed = 0
    device: str = "cpu"
    threads: Threads = 1
    mixed: bool = False  # bfloat16 where torch thinks it safe
    plugins: list[str] = Field(default_factory=list)  # modules or files that register more


def training_plans() -> dict[str, str]:
    """Return the plans that made the zoo, by name: their text."""
    folder = files("segstress.plans").joinpath("train")
    return {Path(path.name).stem: path.read_text() for path in folder.iterdir() if path.name.endswith(".yaml")}


def about(name: str) -> str:
    """Return the first sentence of a plan's comment."""
    lines = itertools.takewhile(lambda line: line.startswith("#"), training_plans()[name].splitlines())
    text = " ".join(line.removeprefix("#").strip() for line in lines)
    return re.split(r"(?<=\.) (?=[A-Z-])", text)[0]


def read_training_plan(source: str | None, changes: Mapping[str, Any]) -> TrainingPlan:
    """Read a plan by name or path, with what the command line changes; `share` and `attack` change its recipe."""
    before = {} if source is None else _read(source)
    plain = changed(before, changes)
    if isinstance(changes.get("backbone"), str):
        plain["backbone"] = _backbone(changes["backbone"], before.get("backbone"))
    inner = {key: plain.pop(key) for key in ("share", "attack") if key in changes}
    if inner:
        plain["recipe"] = {**recipes.read(plain.get("recipe", TrainingPlan.recipe)), **inner}
    return checked(TrainingPlan, plain, "training plan")


def _backbone(text: str, before: Any) -> dict[str, Any]:
    """Read a model, or `file?key=state_dict&part=encoder`; a file is read as the plan's own, but for what is given."""
    path, _, query = text.partition("?")
    if MODEL.match(text) and not Path(path).is_file():
        return {"model": text}
    given: dict[str, Any] = dict(pair.partition("=")[::2] for pair in query.split("&") if pair)
    if "rename" in given:
        given["rename"] = given["rename"].split(",") if given["rename"] else {}
    known = before if isinstance(before, Mapping) else {}
    return {**{key: known[key] for key in ("key", "part", "rename") if key in known}, **given, "path": path}


def _read(source: str) -> dict[str, Any]:
    known = training_plans()
    if source in known:
        return read_yaml(known[source], source)
    if Path(source).is_file():
        return read_yaml(Path(source).read_text(), source)
    raise BadInput(f"no training plan '{source}'; expected a YAML file or one of {', '.join(sorted(known))}")
