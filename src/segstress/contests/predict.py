"""The second step of a competition: every model on every image of the pool, label maps and histograms kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..competition.vocabulary import Vocabulary
from ..core import import_source
from ..data import Dataset, Sample, datasets, resize
from ..data.pipeline import put_behind, read_blocks
from ..runtime import Numerics, Progress, RunOptions, start_executor
from ..runtime.elsewhere import named_files
from ..runtime.sharing import Sharing
from .plan import Contest, Entrant
from .predictor import Labels, Predictor
from .store import ContestStore, Part


@dataclass(frozen=True)
class ModelShard:
    """One model on one shard of the pool."""

    entrant: Entrant
    part: Part
    number: int  # its place among all of them, finished ones too


@dataclass(frozen=True)
class PredictWork:
    """One model on one shard of the pool, from the image where it was interrupted; travels to a worker."""

    folder: Path
    pool: str
    shard_size: int
    vocabulary: Vocabulary
    numerics: Numerics
    plugins: tuple[str, ...] = ()

    @property
    def device(self) -> str:
        """On what it computes."""
        return self.numerics.device

    def __call__(self, unit: ModelShard) -> ModelShard:
        """Write maps, histograms and what went wrong; what comes back is the unit."""
        for plugin in self.plugins:
            import_source(plugin)
        entrant, part = unit.entrant, unit.part
        store = ContestStore(self.folder, self.shard_size)
        maps, journal, faults = store.begun(entrant, part), store.journal(entrant, part), dict[str, str]()
        ids = dict(zip(part.names, part.images, strict=True))

        def keep(predicted: Mapping[str, Labels]) -> None:
            whole = {ids[name]: labels for name, labels in predicted.items() if not isinstance(labels, str)}
            faults.update({ids[name]: labels for name, labels in predicted.items() if isinstance(labels, str)})
            if whole:
                journal.append(whole)
                maps.update(whole)

        if not maps.keys() >= set(part.images):
            with put_behind(keep) as put:
                for predicted in self._predict(entrant, part.names, {name for name in ids if ids[name] in maps}):
                    put(predicted)
        rows = [
            _failed(image, faults[image]) if image in faults else _histogram(image, maps[image], self.vocabulary)
            for image in part.images
        ]
        store.write_maps(entrant, part, {image: maps[image] for image in part.images if image in maps}, rows)
        return unit

    def _predict(self, entrant: Entrant, names: Sequence[str], there: set[str]) -> Iterator[dict[str, Labels]]:
        """Yield maps, a pass at a time, or what went wrong; passes all of whose maps are there are left out."""
        predictor, data = Predictor(self.vocabulary, self.numerics), open_pool(self.pool)
        model = predictor.model(entrant)

        def read(name: str) -> Sample:
            return resize(data.read(name), data.resize)

        for block in read_blocks(read, predictor.blocks(names), data.readers):
            yield {name: fault for name, fault in block.items() if isinstance(fault, str)}
            for group in predictor.passes([sample for sample in block.values() if not isinstance(sample, str)]):
                ids = [sample.id for sample in group]
                if not there.issuperset(ids):
                    yield dict(zip(ids, predictor.maps(model, group, entrant.name), strict=True))

    def give_up(self, unit: ModelShard, reason: str) -> ModelShard:
        """Note an error for every image of a shard that workers die of, as far as it has no map."""
        entrant, part = unit.entrant, unit.part
        store = ContestStore(self.folder, self.shard_size)
        maps = store.begun(entrant, part)
        rows = [
            _histogram(image, maps[image], self.vocabulary) if image in maps else _failed(image, reason)
            for image in part.images
        ]
        store.write_maps(entrant, part, maps, rows)
        return unit


def _failed(image: str, reason: str) -> dict[str, Any]:
    return {"image": image, "status": "error", "message": reason, "size": 0}


def _histogram(image: str, labels: np.ndarray, vocabulary: Vocabulary) -> dict[str, Any]:
    pixels = np.bincount(labels.ravel())
    shown = np.flatnonzero(pixels)
    shown = shown[shown != vocabulary.scheme.void]
    row = {"image": image, "status": "ok", "message": "", "size": labels.size}
    return row | {"classes": shown.tolist(), "pixels": pixels[shown].tolist()}


def predict(
    store: ContestStore,
    contest: Contest,
    entrants: list[Entrant],
    vocabulary: Vocabulary,
    progress: Progress,
    run_options: RunOptions,
    sharing: Sharing,
) -> list[str]:
    """Store label maps of every model for every usable image that has none yet; the pool is never in memory.

    Return what went wrong with any of them, by now or before: a competition that is gone on with forgets no failure."""
    units = [ModelShard(*pair, number) for number, pair in enumerate(product(entrants, store.parts()))]

    def is_done(unit: ModelShard) -> bool:
        return store.part_file(unit.entrant, "rows", unit.part).exists()

    def find() -> list[ModelShard]:
        todo = [unit for unit in units if not is_done(unit)]
        progress.begin(sum(len(unit.part.images) for unit in todo))
        return todo

    pool = json.dumps(datasets.spec(contest.data()), sort_keys=True)
    work = PredictWork(store.folder, pool, store.shard_size, vocabulary, contest.numerics, tuple(contest.plugins))
    files = named_files([contest.plugins, *(entrant.spec for entrant in entrants)])
    executor = start_executor(run_options, contest.numerics.threads, progress.warn, files)
    for todo in sharing.rounds("predict", find):
        for unit in executor.map(work, todo):
            sharing.finish("predict", unit)
            progress.advance(len(unit.part.images))
    return [error for unit in units if is_done(unit) for error in store.errors(unit.entrant, unit.part)]


def forget_errors(store: ContestStore, entrants: list[Entrant]) -> None:
    """Let models try again where they failed."""
    for part in store.parts():
        for entrant in entrants:
            if store.part_file(entrant, "rows", part).exists() and store.errors(entrant, part):
                store.forget(entrant, part)


@lru_cache(maxsize=2)
def open_pool(spec: str) -> Dataset:
    """Return the pool of a spec as JSON; a worker opens it once, since some take long to list."""
    return datasets.build(json.loads(spec))
