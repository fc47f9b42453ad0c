"""What a competition asks: models, a pool of images, how they are compared and chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import yaml
from pydantic import Field

from ..competition.discrepancy import concordances
from ..competition.select import Rule
from ..competition.vocabulary import Vocabulary, read_vocabulary
from ..core import BadInput, import_source, settings, to_plain
from ..core.files import write
from ..core.quantities import CountOrNone
from ..data import Dataset, readable
from ..data import load as load_data
from ..models import Model, fingerprint, models
from ..models import load as load_model
from ..models.pruned import rivals
from ..planning.batching import parameters, settled
from ..planning.battery_files import Specs
from ..planning.reading import changed, checked, read_file, read_yaml
from ..planning.sharding import images_per_shard
from ..runtime import Numerics

FILE = "contest.yaml"
GROWING = ("models", "plugins")  # lists to which a competition that was begun may be given more
WHOLE_BLOCKS = 32  # images: shards of so many, or a multiple, never part images that meet a model together


@settings
class Contest:
    """One competition; models may be added later, all else stays as it was begun."""

    models: Specs
    pool: str | dict[str, Any]  # dataset spec; masks in it can be the judge
    classes: Path | None = None  # file that joins different label sets
    background: int | None = None  # a class that forms no group, where neither the pool nor the class file says
    metric: str = "miou"  # agreement of two maps: segstress list concordances
    scale: str = "pool"  # bounds on class size: pool (quartiles), none, voc, a YAML table, or labelled data
    rule: Rule = Rule()
    copies: CountOrNone = 0  # pruned rivals of the first model
    shard_size: CountOrNone = 0  # images written at a time, kept as begun; 0 = as their bytes allow
    plugins: list[str] = Field(default_factory=list)
    numerics: Numerics = Numerics()

    def __post_init__(self) -> None:
        for plugin in self.plugins:
            import_source(plugin)
        concordances.get(self.metric)

    def data(self) -> Dataset:
        """Return the pool."""
        return load_data(self.pool)


@dataclass(frozen=True)
class Entrant:
    """A model in a competition, under the name that tables use."""

    name: str
    spec: Mapping[str, Any]
    fingerprint: str

    @property
    def key(self) -> str:
        """Folder of its results."""
        return f"{self.name}-{self.fingerprint}"


def find_entrants(contest: Contest) -> list[Entrant]:
    """Return the models in their order; where two share a label, the later one carries its hash."""
    specs = [*contest.models, *(rivals(contest.models[0], contest.copies) if contest.models else [])]
    built: dict[str, Model] = {}
    for model in map(models.build, specs):
        built.setdefault(fingerprint(load_model(model), model), model)
    if len(built) < 2:
        raise BadInput(f"a competition needs at least two different models, found {len(built)}; try --copies 3")
    entrants: list[Entrant] = []
    used: Counter[str] = Counter()
    for weights, model in built.items():
        name = model.label if not used[model.label] else f"{model.label}-{weights[:4]}"
        used[model.label] += 1
        entrants.append(Entrant(name, models.spec(model), weights))
    return entrants


def find_vocabulary(contest: Contest, outputs: Mapping[str, int], data: Dataset) -> Vocabulary:
    """Return the common classes, checked against what every model really gives for an image of the pool."""
    names = list(outputs)
    if contest.classes is not None:
        try:
            content = read_yaml(contest.classes.read_text(), str(contest.classes))
        except OSError as error:
            raise BadInput(f"class file {contest.classes} cannot be read: {error.strerror}") from error
        vocabulary = read_vocabulary(content, names)
    elif data.classes:
        vocabulary = Vocabulary(tuple(data.classes), data.background)
    else:
        first = outputs[names[0]]
        vocabulary = Vocabulary(tuple(f"class {number}" for number in range(first)), contest.background)
    vocabulary.check(outputs)
    return vocabulary


@dataclass(frozen=True)
class TrialRun:
    """What was seen when every model was tried on one image."""

    outputs: Mapping[str, int]  # classes that each model gives
    pixels: int  # of the image as models see it
    parameters: tuple[int, ...]  # of each model


def try_out(contest: Contest, entrants: list[Entrant], data: Dataset, device: str) -> TrialRun:
    """Let every model look at the first image of the pool that can be read."""
    names = (name for stretch in data.stretches() for name in stretch)
    sample = next(readable(data, names), None)
    if sample is None:
        raise BadInput(f"pool {data.name}: none of its {len(data.ids())} images can be read")
    images = sample.image[None].to(device, contest.numerics.torch_dtype())
    outputs, sizes = {}, []
    for entrant in entrants:
        model = load_model(entrant.spec).to(images.device, images.dtype)
        sizes.append(parameters(model))
        with torch.no_grad():
            outputs[entrant.name] = model(images).shape[1]
    return TrialRun(outputs, sample.labels.numel(), tuple(sizes))


def settle(contest: Contest, trial: TrialRun, folder: Path, images: int) -> Contest:
    """Say how many images go through a model at once, and into a shard: as asked, as begun, else by the rules."""
    numerics, shard_size = contest.numerics, contest.shard_size
    if (folder / FILE).exists():
        begun = read_contest(folder / FILE)
        size = numerics.batch_size or begun.numerics.batch_size or 1  # earlier versions wrote 0, and had one image
        numerics, shard_size = replace(numerics, batch_size=size), shard_size or begun.shard_size
    return replace(
        contest,
        numerics=settled(numerics, lambda: trial.pixels, trial.parameters),
        shard_size=shard_size or WHOLE_BLOCKS * -(-images_per_shard(images, 1, trial.pixels) // WHOLE_BLOCKS),
    )


def read_contest(source: Path | Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> Contest:
    """Return a competition from a file, a folder that holds one, or a mapping, with changes to it."""
    if isinstance(source, Mapping):
        plain = dict(source)
    else:
        plain = read_file(source / FILE if source.is_dir() else source, "begin with segstress mad index")
    return checked(Contest, changed(plain, changes or {}), "competition", getattr(plain, "lines", {}))


def admit(folder: Path, contest: Contest) -> None:
    """Write the plan, or refuse one that changes more than the lists of models and plug-ins, which may only grow."""
    path = folder / FILE
    plain = to_plain(contest)
    if path.exists():
        before = to_plain(read_contest(path))
        other = [key for key in GROWING if plain[key][: len(before[key])] != before[key]]
        other += [key for key in plain if key not in (*GROWING, "numerics") and plain[key] != before[key]]
        if other:
            raise BadInput(
                f"{folder} holds another competition ({', '.join(other)} differ); "
                "choose another --out, or only add models at the end"
            )
    write(path, yaml.safe_dump(plain, sort_keys=False).encode())
