"""The second step of a competition: every model on every image of the pool, label maps and histograms kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from ..competition.vocabulary import Vocabulary
from ..core import BadImage, BadInput, import_source
from ..data import Dataset, Sample, datasets, resize
from ..metrics.counts import predict as labels_of
from ..models import ready
from ..runtime import Numerics, Progress, RunOptions, start_executor
from ..runtime.elsewhere import named_files
from ..runtime.sharing import Sharing
from .plan import Contest, Entrant
from .store import ContestStore, Part


@dataclass(frozen=True)
class Predictor:
    """How models are loaded, and their answers brought to the common classes."""

    vocabulary: Vocabulary
    numerics: Numerics

    def model(self, entrant: Entrant) -> nn.Module:
        """Load a model onto its device."""
        return ready(entrant.spec, self.numerics.device, self.numerics.torch_dtype())[0]

    @torch.no_grad()
    def map(self, model: nn.Module, sample: Sample, name: str) -> np.ndarray:
        """Return the labels of an image as the model of that name sees them."""
        images = sample.image[None].to(self.numerics.device, self.numerics.torch_dtype())
        logits = model(images)
        if logits.shape[-2:] != images.shape[-2:]:
            raise BadImage(f"the prediction is {tuple(logits.shape[-2:])}, the image {tuple(images.shape[-2:])}")
        return self.vocabulary.translate(labels_of(logits)[0].cpu().numpy(), name)


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

    def __call__(self, unit: ModelShard) -> tuple[ModelShard, list[str]]:
        """Write maps and histograms; what comes back is the unit and what went wrong."""
        for plugin in self.plugins:
            import_source(plugin)
        entrant, part = unit.entrant, unit.part
        predictor, data = Predictor(self.vocabulary, self.numerics), open_pool(self.pool)
        model = predictor.model(entrant)
        store = ContestStore(self.folder, self.shard_size)
        maps, journal = store.begun(entrant, part), store.journal(entrant, part)
        rows = []
        for image, name in zip(part.images, part.names, strict=True):
            try:
                if image not in maps:
                    maps[image] = predictor.map(model, resize(data.read(name), data.resize), entrant.name)
                    journal.append(image, maps[image])
                rows.append(_histogram(image, maps[image], self.vocabulary))
            except Exception as error:
                if isinstance(error, BadInput) and not isinstance(error, BadImage):
                    raise
                rows.append(_failed(image, str(error).splitlines()[0]))
        store.write_maps(entrant, part, maps, rows)
        faults = [row for row in rows if row["status"] == "error"]
        return unit, [f"{entrant.name} on {row['image']}: {row['message']}" for row in faults]

    def give_up(self, unit: ModelShard, reason: str) -> tuple[ModelShard, list[str]]:
        """Note an error for every image of a shard that workers die of, as far as it has no map."""
        entrant, part = unit.entrant, unit.part
        store = ContestStore(self.folder, self.shard_size)
        maps = store.begun(entrant, part)
        rows = [
            _histogram(image, maps[image], self.vocabulary) if image in maps else _failed(image, reason)
            for image in part.images
        ]
        store.write_maps(entrant, part, maps, rows)
        return unit, [f"{entrant.name} on {image}: {reason}" for image in part.images if image not in maps]


def _failed(image: str, reason: str) -> dict[str, Any]:
    return {"image": image, "status": "error", "message": reason, "size": 0}


def _histogram(image: str, labels: np.ndarray, vocabulary: Vocabulary) -> dict[str, Any]:
    pixels = np.bincount(labels[labels != vocabulary.scheme.void], minlength=1)
    shown = np.flatnonzero(pixels)
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
    """Store label maps of every model for every usable image that has none yet; the pool is never in memory."""
    units = [ModelShard(*pair, number) for number, pair in enumerate(product(entrants, store.parts()))]

    def find() -> list[ModelShard]:
        todo = [unit for unit in units if not store.place(unit.entrant, "rows", unit.part).exists()]
        progress.begin(sum(len(unit.part.images) for unit in todo))
        return todo

    pool = json.dumps(datasets.spec(contest.data()), sort_keys=True)
    work = PredictWork(store.folder, pool, store.shard_size, vocabulary, contest.numerics, tuple(contest.plugins))
    faults: list[str] = []
    files = named_files([contest.plugins, *(entrant.spec for entrant in entrants)])
    executor = start_executor(run_options, contest.numerics.threads, progress.warn, files)
    for todo in sharing.rounds("predict", find):
        for unit, messages in executor.map(work, todo):
            sharing.finish("predict", unit)
            progress.advance(len(unit.part.images))
            faults += messages
    return faults


def forget_errors(store: ContestStore, entrants: list[Entrant]) -> None:
    """Let models try again where they failed."""
    for part in store.parts():
        for entrant in entrants:
            if store.place(entrant, "rows", part).exists() and store.failed(entrant, part):
                store.forget(entrant, part)


@lru_cache(maxsize=2)
def open_pool(spec: str) -> Dataset:
    """Return the pool of a spec as JSON; a worker opens it once, since some take long to list."""
    return datasets.build(json.loads(spec))
