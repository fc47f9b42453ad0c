"""Made studies for what reports show: a plain one, and those in which answers are missing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch

from ..metrics.counts import count
from ..results.rows import ImageRow, ImageRows
from ..results.study import Floor, Frame, Objects, Outcome, PartsFrame, Study


def toy_study(classes: int = 3, images: int = 3) -> Study:
    """Return the counts of random maps, clean and under one attack."""
    draw = np.random.default_rng(classes)

    def counted() -> np.ndarray:
        actual = draw.integers(0, 50, (images, classes))
        actual[:, 0] += 1
        hits = draw.integers(0, actual + 1)
        return np.stack([hits, hits + draw.integers(0, 5, actual.shape), actual], -1)

    ids = tuple(f"image-{number}" for number in range(images))
    rows = ImageRows.of(ImageRow(id_, "any", "ok", "", 0.03, 0.03, 1.0, 9.0, 0.5, 3, 3) for id_ in ids)
    counts, everyone = {("any", "all"): counted()}, np.ones(images, dtype=bool)
    outcome = Outcome("x", "", ("any",), counts, {}, everyone, rows)
    nothing = np.zeros(0, dtype=np.int64)
    return Study(
        model="m",
        data="d",
        eps=8 / 255,
        threat="linf 8/255",
        classes=tuple(f"class {number}" for number in range(classes)),
        background=None,
        void="255",
        palette=tuple((number % 256, 0, 0) for number in range(classes)),
        ids=ids,
        clean={"all": counted()},
        clean_answered=everyone,
        outcomes=(outcome,),
        objects=Objects(nothing, nothing, nothing, nothing, {"x": nothing}, {"x": nothing}),
        frames=(),
        warnings=(),
        provenance={"seed": "0"},
    )


def failed_study() -> Study:
    """Return a study in which every attack failed on every image."""
    study = toy_study()
    (outcome,) = study.outcomes
    rows = ImageRows.of(
        replace(row, status="error", message="no gradient", size=math.nan, damage=math.nan) for row in outcome.rows
    )
    empty = {key: 0 * table for key, table in outcome.counts.items()}
    nobody = np.zeros(len(study.ids), dtype=bool)
    return replace(study, outcomes=(replace(outcome, answered=nobody, rows=rows, counts=empty),))


def untrue_study() -> Study:
    """Return a study without any truth, so that every figure is NaN."""
    study = toy_study()
    return replace(study, clean={"all": 0 * study.clean["all"]}, clean_answered=np.zeros(len(study.ids), dtype=bool))


def clean_study() -> Study:
    """Return a study without any perturbation."""
    nothing = np.zeros(0, dtype=np.int64)
    return replace(toy_study(), outcomes=(), objects=Objects(nothing, nothing, nothing, nothing, {}, {}))


def whole_study() -> Study:
    """Return a study of all that a run can have: two attacks, pictures, objects, parts attacked alone."""
    draw = np.random.default_rng(0)
    images, side, classes, labels = 4, 16, 3, ("x", "y")
    truth = draw.integers(0, classes, (images, side // 4, side // 4)).repeat(4, 1).repeat(4, 2)
    pictures = draw.random((images, 3, side, side)).astype(np.float32)

    def harmed(share: float) -> np.ndarray:
        return np.where(draw.random(truth.shape) < share, (truth + 1) % classes, truth)

    def counted(maps: np.ndarray, zone: np.ndarray) -> np.ndarray:
        seen, labels, inside = (torch.from_numpy(array) for array in (maps, truth, zone))
        return count(seen, labels, inside, classes).numpy()

    zones = {"all": truth >= 0, "foreground": truth > 0}
    clean, maps = harmed(0.05), {label: harmed(share) for label, share in zip(labels, (0.6, 0.8), strict=True)}
    parts = [(image, klass) for image in range(images) for klass in range(1, classes) if (truth[image] == klass).any()]

    def right(*seen: np.ndarray) -> np.ndarray:
        agreed = [np.all([one[image] == truth[image] for one in seen], 0) for image, _ in parts]
        return np.array(
            [(agree & (truth[image] == klass)).sum() for agree, (image, klass) in zip(agreed, parts, strict=True)]
        )

    plain, everyone = toy_study(classes, images), np.ones(images, dtype=bool)
    (toy,) = plain.outcomes
    alone = replace(toy, label="alone", counts={}, clean={})
    drawn = {state: counted(seen, zones["all"]) for state, seen in (("clean", clean), ("after", maps["y"]))}
    pixels = replace(
        alone, label="pixels", clean={"sampled": drawn["clean"]}, counts={("any", "sampled"): drawn["after"]}
    )
    frames = [
        Frame(id_, label, pictures[number], pictures[number], truth[number], clean[number], seen[number])
        for label, seen in maps.items()
        for number, id_ in enumerate(plain.ids)
    ]
    first = (pictures[0], truth[0], clean[0], maps["y"][0])
    part_frames = (PartsFrame(plain.ids[0], *first, truth[0] > 0),)
    return replace(
        plain,
        background=0,
        clean={name: counted(clean, zone) for name, zone in zones.items()},
        outcomes=tuple(
            replace(
                toy,
                label=label,
                counts={("any", name): counted(seen, zone) for name, zone in zones.items()},
                answered=everyone,
                traces={id_: {1: side * side, 10: side * side // 2, 40: side} for id_ in plain.ids},
            )
            for label, seen in maps.items()
        ),
        objects=Objects(
            image=np.array([image for image, _ in parts]),
            klass=np.array([klass for _, klass in parts]),
            area=np.array([(truth[image] == klass).sum() for image, klass in parts]),
            clean=right(clean),
            correct={label: right(seen) for label, seen in maps.items()} | {"alone": 0 * right(clean)},
            kept={label: right(clean, seen) for label, seen in maps.items()},
        ),
        frames=tuple(frames),
        alone=(Floor("objects", alone, part_frames, ((0, frames[0]),)), Floor("pixels", pixels, part_frames)),
    )


STUDIES = {
    "whole": whole_study,
    "plain": toy_study,
    "one image": lambda: toy_study(images=1),
    "many classes": lambda: toy_study(classes=40),
    "all failed": failed_study,
    "no truth": untrue_study,
    "clean alone": clean_study,
}
