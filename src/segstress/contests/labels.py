"""Selected images to annotators, and their labels back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..competition.formats.fiftyone import Shown, write_fiftyone
from ..competition.formats.label_task import LabelTask, formats
from ..competition.formats.palette_png import write_mask
from ..competition.select import Member
from ..core import BadInput, digest
from ..core.files import write
from .images import ContestImages, quality
from .screening import screen

MANIFEST = "export.json"  # what was sent, so that an import can tell what changed
OWN = ("empty", "masks", "labels")  # labels to begin from, other than a model's: none, the pool's, the imported


def export(
    contest_images: ContestImages, members: Sequence[Member], spec: str, out: Path, prefill: str = OWN[0]
) -> int:
    """Write the chosen images in a format, with a model's labels to begin from, the pool's own, or none."""
    images = sorted({member.image for member in members})
    if spec == "fiftyone":
        write_fiftyone(
            _shown(contest_images, members),
            contest_images.vocabulary.scheme,
            out,
            f"mad-{contest_images.store.folder.resolve().name}",
        )
        return len(images)
    known = [entrant.name for entrant in contest_images.entrants]
    if prefill not in (*OWN, *known):
        raise BadInput(f"prefill: expected {', '.join(OWN)} or a model ({', '.join(known)}), found '{prefill}'")
    own = {"masks": contest_images.mask, "labels": contest_images.label}.get(prefill)
    sent: dict[str, str] = {}

    def tasks() -> Iterator[LabelTask]:
        for image, maps in contest_images.maps(images):
            pixels = contest_images.pixels(image)
            labels = own(image) if own else maps.get(prefill)
            labels = contest_images.vocabulary.scheme.blank(*pixels.shape[:2]) if labels is None else labels
            sent[image] = _print(labels)
            yield LabelTask(image, pixels, labels)

    formats.build(spec).write(tasks(), contest_images.vocabulary.scheme, out)
    write(
        contest_images.store.folder / MANIFEST, json.dumps({"format": spec, "prefill": prefill, "sent": sent}).encode()
    )
    return len(images)


def _shown(contest_images: ContestImages, members: Sequence[Member]) -> Iterator[Shown]:
    names = [entrant.name for entrant in contest_images.entrants]
    for image, maps in contest_images.maps(sorted({member.image for member in members})):
        truth = contest_images.label(image)
        truth = contest_images.mask(image) if truth is None else truth
        pixels = contest_images.pixels(image)
        own = [member for member in members if member.image == image]
        hits = [
            f"{names[m.defender]}|{names[m.attacker]}|{contest_images.vocabulary.classes[m.class_]}|{m.rank}"
            for m in own
        ]
        fields: dict[str, str | float | int | list[str]] = {"mad_hits": hits}
        if truth is None:
            truth = np.full(
                pixels.shape[:2],
                contest_images.vocabulary.scheme.void,
                dtype=contest_images.vocabulary.scheme.blank(1, 1).dtype,
            )
        else:
            fields |= {
                f"iou_{name}": quality(truth, labels, contest_images.vocabulary) for name, labels in maps.items()
            }
        yield Shown(LabelTask(image, pixels, truth), maps, ["mad"], fields)


@dataclass(frozen=True)
class Imported:
    """What came back from annotators."""

    taken: int
    unchanged: list[str]  # as they were sent
    rejected: list[str]
    missing: list[str]  # chosen, but not among the files
    faults: list[str]


def take_back(contest_images: ContestImages, members: Sequence[Member], spec: str, folder: Path) -> Imported:
    """Check what a tool has saved and keep the labels that are whole; rejections become screening decisions."""
    if not folder.exists():
        raise BadInput(f"{folder} does not exist; expected what the annotation tool has saved")
    images = {member.image for member in members}
    sent, prefill = _manifest(contest_images.store.folder)
    kept: dict[str, np.ndarray] = {}
    rejected: list[str] = []
    faults: list[str] = []
    for result in formats.build(spec).read(folder, contest_images.vocabulary.scheme):
        if result.fault or result.labels is None:
            faults.append(result.fault)
        elif result.image not in images:
            faults.append(f"{result.image}: not among the {len(images)} selected images")
        elif result.rejected:
            rejected.append(result.image)
        elif result.labels.shape != contest_images.pixels(result.image).shape[:2]:
            sides, wanted = result.labels.shape, contest_images.pixels(result.image).shape[:2]
            faults.append(f"{result.image}: labels are {sides[0]} x {sides[1]}, the image {wanted[0]} x {wanted[1]}")
        elif prefill != OWN[0] or sent.get(result.image) != _print(result.labels):  # else nobody has labelled it yet
            kept[result.image] = result.labels
    (contest_images.store.folder / "labels").mkdir(exist_ok=True)
    for image, labels in kept.items():
        write_mask(contest_images.store.folder / "labels" / f"{image}.png", labels)
    screen(
        contest_images.store.folder,
        [{"image": image, "class": "", "keep": False, "reason": "annotator"} for image in rejected],
    )
    unchanged = [image for image, labels in kept.items() if sent.get(image) == _print(labels)]
    missing = sorted(images - kept.keys() - set(rejected))
    return Imported(len(kept), unchanged, rejected, missing, faults)


def _manifest(folder: Path) -> tuple[Mapping[str, str], str]:
    """Return the hashes of the labels that were sent, and where they came from."""
    path = folder / MANIFEST
    plain: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"sent": {}, "prefill": ""}
    return plain["sent"], plain["prefill"]


def _print(labels: np.ndarray) -> str:
    return digest([labels.shape, labels.tobytes().hex()])
