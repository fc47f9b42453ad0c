"""The images of a competition with every model's map of them, and what is known to be true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ..competition.discrepancy import pair_counts
from ..competition.formats.palette_png import read_mask
from ..competition.vocabulary import POOL, Vocabulary
from ..core import BadImage, BadInput
from ..data import Sample, resize
from ..metrics.scores import image_miou
from .plan import Contest, Entrant
from .screening import doubted
from .store import ContestStore


class ContestImages:
    """The chosen images of a competition with every model's map of them."""

    def __init__(
        self, store: ContestStore, contest: Contest, entrants: Sequence[Entrant], vocabulary: Vocabulary
    ) -> None:
        self.store, self.contest, self.entrants, self.vocabulary = store, contest, entrants, vocabulary
        self.data = contest.data()
        self._parts = {image: part for part in store.parts() for image in part.images}

    def sample(self, image: str) -> Sample:
        """Return the image as the models saw it."""
        part = self._parts[image]
        name = part.names[part.images.index(image)]
        return resize(self.data.read(name), self.data.resize)

    def pixels(self, image: str) -> np.ndarray:
        """Return the image as 8-bit RGB."""
        pixels = self.sample(image).image
        show = [channel - 1 for channel in self.data.show] or range(3 if len(pixels) >= 3 else 1)
        shown = pixels[list(show)].numpy().transpose(1, 2, 0)
        return np.round(np.broadcast_to(shown, (*shown.shape[:2], 3)) * 255).astype(np.uint8)

    def maps(self, images: Sequence[str]) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Yield each image with the maps of all models that have one; every shard is opened once."""
        wanted = set(images)
        for part in dict.fromkeys(self._parts[image] for image in images):
            by_model = {entrant.name: self.store.maps(entrant, part) for entrant in self.entrants}
            for image in part.images:
                if image in wanted:  # copied, because a map is a view of its whole shard
                    yield image, {name: maps[image].copy() for name, maps in by_model.items() if image in maps}

    def mask(self, image: str) -> np.ndarray | None:
        """Return the pool's own mask, where it has one."""
        sample = self.sample(image)
        if not sample.valid.any():
            return None
        if tuple(self.data.classes) != self.vocabulary.classes and POOL not in self.vocabulary.tables:
            raise BadInput("masks: the pool has other classes than the competition; say under 'pool' in the class file")
        labels = self.vocabulary.translate(sample.labels.numpy(), POOL)
        return np.where(sample.valid.numpy(), labels, self.vocabulary.scheme.void).astype(labels.dtype)

    def label(self, image: str) -> np.ndarray | None:
        """Return the imported labels, where there are any."""
        path = self.store.folder / "labels" / f"{image}.png"
        return read_mask(path, self.vocabulary.scheme) if path.exists() else None

    def trusted(self, image: str) -> np.ndarray | None:
        """Return the imported labels, unless someone found them wrong."""
        return None if image in self._doubted else self.label(image)

    @cached_property
    def _doubted(self) -> frozenset[str]:
        return doubted(self.store.folder)

    def shard(self, image: str) -> tuple[str, ...]:
        """Return the images that lie together with one."""
        return self._parts[image].images


def quality(truth: np.ndarray, labels: np.ndarray, vocabulary: Vocabulary) -> float:
    """Return the mIoU of a map against the truth, over classes that either shows; NaN where nothing has a truth."""
    if truth.shape != labels.shape:
        raise BadImage(f"the truth is {truth.shape}, the prediction {labels.shape}")
    return float(image_miou(pair_counts(np.stack([truth, labels]), len(vocabulary.classes))[0])[1])
