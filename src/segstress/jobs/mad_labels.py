"""Selected images to annotators and back, and the truth that they or the pool's own masks tell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..competition.ballots.ballot import Ballot, formats
from ..competition.ballots.fiftyone import Shown, write_fiftyone
from ..competition.ballots.palette_png import read_mask, write_mask
from ..competition.discrepancy import pair_counts
from ..competition.select import Member
from ..competition.vocabulary import Vocabulary
from ..core import BadImage, BadInput, digest
from ..data import Sample, resize
from ..metrics.scores import image_miou
from ..runtime import write
from .mad_plan import Contest, Entrant
from .mad_screening import doubted, screen
from .mad_store import ContestStore

MANIFEST = "export.json"  # what was sent, so that an import can tell what changed
OWN = ("empty", "masks", "labels")  # labels to begin from, other than a model's: none, the pool's, the imported


class Field:
    """The chosen images of a competition with every model's map of them."""

    def __init__(self, store: ContestStore, contest: Contest, entrants: Sequence[Entrant], words: Vocabulary) -> None:
        self.store, self.contest, self.entrants, self.words = store, contest, entrants, words
        self.data = contest.data()
        self._parts = {image: part for part in store.parts() for image in part.images}

    def sample(self, image: str) -> Sample:
        """The image as the models saw it."""
        part = self._parts[image]
        name = part.names[part.images.index(image)]
        return resize(self.data.read(name), self.data.resize)

    def pixels(self, image: str) -> np.ndarray:
        """The image as 8-bit RGB."""
        shown = self.sample(image).image[:3].numpy().transpose(1, 2, 0)
        return np.round(np.broadcast_to(shown, (*shown.shape[:2], 3)) * 255).astype(np.uint8)

    def maps(self, images: Sequence[str]) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Each image with the maps of all models that have one; every shard is opened once."""
        for part in dict.fromkeys(self._parts[image] for image in images):
            by_model = {entrant.name: self.store.maps(entrant, part) for entrant in self.entrants}
            for image in part.images:
                if image in images:
                    yield image, {name: maps[image] for name, maps in by_model.items() if image in maps}

    def mask(self, image: str) -> np.ndarray | None:
        """The pool's own mask, where it has one."""
        sample = self.sample(image)
        if not sample.valid.any():
            return None
        blank = self.words.scheme.blank(1, 1)
        return np.where(sample.valid.numpy(), sample.labels.numpy(), self.words.scheme.void).astype(blank.dtype)

    def label(self, image: str) -> np.ndarray | None:
        """The imported labels, where there are any."""
        path = self.store.folder / "labels" / f"{image}.png"
        return read_mask(path, self.words.scheme) if path.exists() else None

    def trusted(self, image: str) -> np.ndarray | None:
        """The imported labels, unless someone found them wrong."""
        return None if image in doubted(self.store.folder) else self.label(image)


def export(field: Field, members: Sequence[Member], spec: str, out: Path, prefill: str = OWN[0]) -> int:
    """Write the chosen images in a format, with a model's labels to begin from, the pool's own, or none."""
    images = sorted({member.image for member in members})
    if spec == "fiftyone":
        write_fiftyone(_shown(field, members), field.words.scheme, out, f"mad-{field.store.folder.resolve().name}")
        return len(images)
    known = [entrant.name for entrant in field.entrants]
    if prefill not in (*OWN, *known):
        raise BadInput(f"prefill: expected {', '.join(OWN)} or a model ({', '.join(known)}), found '{prefill}'")
    own = {"masks": field.mask, "labels": field.label}.get(prefill)
    sent: dict[str, str] = {}

    def ballots() -> Iterator[Ballot]:
        for image, maps in field.maps(images):
            pixels = field.pixels(image)
            labels = own(image) if own else maps.get(prefill)
            labels = field.words.scheme.blank(*pixels.shape[:2]) if labels is None else labels
            sent[image] = _print(labels)
            yield Ballot(image, pixels, labels)

    formats.build(spec).write(ballots(), field.words.scheme, out)
    write(field.store.folder / MANIFEST, json.dumps({"format": spec, "prefill": prefill, "sent": sent}).encode())
    return len(images)


def _shown(field: Field, members: Sequence[Member]) -> Iterator[Shown]:
    names = [entrant.name for entrant in field.entrants]
    for image, maps in field.maps(sorted({member.image for member in members})):
        truth = field.label(image)
        truth = field.mask(image) if truth is None else truth
        pixels = field.pixels(image)
        own = [member for member in members if member.image == image]
        hits = [f"{names[m.defender]}|{names[m.attacker]}|{field.words.classes[m.class_]}|{m.rank}" for m in own]
        fields: dict[str, str | float | int | list[str]] = {"mad_hits": hits}
        if truth is None:
            truth = np.full(pixels.shape[:2], field.words.scheme.void, dtype=field.words.scheme.blank(1, 1).dtype)
        else:
            fields |= {f"iou_{name}": quality(truth, labels, field.words) for name, labels in maps.items()}
        yield Shown(Ballot(image, pixels, truth), maps, ["mad"], fields)


@dataclass(frozen=True)
class Imported:
    """What came back from annotators."""

    taken: int
    unchanged: list[str]  # as they were sent
    rejected: list[str]
    missing: list[str]  # chosen, but not among the files
    faults: list[str]


def take_back(field: Field, members: Sequence[Member], spec: str, folder: Path) -> Imported:
    """Check what a tool has saved and keep the labels that are whole; rejections become screening decisions."""
    if not folder.exists():
        raise BadInput(f"{folder} does not exist; expected what the annotation tool has saved")
    images = {member.image for member in members}
    sent = _manifest(field.store.folder)
    kept: dict[str, np.ndarray] = {}
    rejected: list[str] = []
    faults: list[str] = []
    for reading in formats.build(spec).read(folder, field.words.scheme):
        if reading.fault or reading.labels is None:
            faults.append(reading.fault)
        elif reading.image not in images:
            faults.append(f"{reading.image}: not among the {len(images)} selected images")
        elif reading.rejected:
            rejected.append(reading.image)
        elif reading.labels.shape != field.pixels(reading.image).shape[:2]:
            found, wanted = reading.labels.shape, field.pixels(reading.image).shape[:2]
            faults.append(f"{reading.image}: labels are {found[0]} x {found[1]}, the image {wanted[0]} x {wanted[1]}")
        else:
            kept[reading.image] = reading.labels
    (field.store.folder / "labels").mkdir(exist_ok=True)
    for image, labels in kept.items():
        write_mask(field.store.folder / "labels" / f"{image}.png", labels)
    screen(
        field.store.folder, [{"image": image, "class": "", "keep": False, "reason": "annotator"} for image in rejected]
    )
    unchanged = [image for image, labels in kept.items() if sent.get(image) == _print(labels)]
    missing = sorted(images - kept.keys() - set(rejected))
    return Imported(len(kept), unchanged, rejected, missing, faults)


def _manifest(folder: Path) -> Mapping[str, str]:
    path = folder / MANIFEST
    sent: Mapping[str, str] = json.loads(path.read_text())["sent"] if path.exists() else {}
    return sent


def _print(labels: np.ndarray) -> str:
    return digest([labels.shape, labels.tobytes().hex()])


def quality(truth: np.ndarray, labels: np.ndarray, words: Vocabulary) -> float:
    """mIoU of a map against the truth, over the classes that either shows; NaN where nothing has a truth."""
    if truth.shape != labels.shape:
        raise BadImage(f"the truth is {truth.shape}, the prediction {labels.shape}")
    return float(image_miou(pair_counts(np.stack([truth, labels]), len(words.classes))[0])[1])
