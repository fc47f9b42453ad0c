"""A made study with believable numbers: scenes of rectangles, a good clean prediction, attacks of unequal strength."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segstress.results.rows import ImageRow, ImageRows
from segstress.results.study import Frame, Objects, Outcome, Study

CLASSES = ("background", "disc", "square", "triangle", "ring", "cross", "bar")
PALETTE = ((38, 42, 51), (230, 97, 60), (64, 138, 201), (92, 173, 102), (232, 188, 74), (154, 106, 186), (84, 190, 190))
HEIGHT, WIDTH = 48, 64
RADIUS = 8 / 255
GOALS = ("accuracy", "miou")
STRENGTHS = {"pgd 8/255": 0.82, "segpgd 8/255": 0.93, "cospgd 8/255": 0.9, "fgsm 8/255": 0.35}
FAILING = "cospgd 8/255"  # on the fourth image
FAILURE = "logits: expected finite numbers, found NaN; check the model on this image"
PROVENANCE = {
    "segstress": "0.1.0",
    "torch": "2.13.0+cpu",
    "seed": "0",
    "command": "segstress attack --model compact:cnn-normal --data shapes:test --battery quick --eps 8/255",
    "model hash": "3fa1c09b77de",
    "data hash": "a01277e8c3f2",
    "numerics": "cpu, float32, 1 thread, 1 image per pass",
}


def count(prediction: np.ndarray, truth: np.ndarray, zone: np.ndarray) -> np.ndarray:
    """Hits, predicted and actual pixels per class, the slow and obvious way."""
    inside = zone & (truth >= 0)
    return np.array(
        [
            [
                np.sum(inside & (prediction == klass) & (truth == klass)),
                np.sum(inside & (prediction == klass)),
                np.sum(inside & (truth == klass)),
            ]
            for klass in range(len(CLASSES))
        ]
    )


def zones(truth: np.ndarray, background: int | None) -> dict[str, np.ndarray]:
    """Every pixel, and those of the foreground where there is one."""
    everywhere = {"all": np.ones_like(truth, dtype=bool)}
    return everywhere if background is None else everywhere | {"foreground": truth != background}


def scene(draw: np.random.Generator) -> np.ndarray:
    """Background, up to five rectangles, one of them with a void border."""
    truth = np.zeros((HEIGHT, WIDTH), dtype=np.int64)
    for _ in range(draw.integers(2, 6)):
        height, width = draw.integers(3, 20, 2)
        top, left = draw.integers(1, HEIGHT - height), draw.integers(1, WIDTH - width)
        truth[top - 1 : top + height + 1, left - 1 : left + width + 1] = -1
        truth[top : top + height, left : left + width] = draw.integers(1, len(CLASSES))
    return truth


def predict(truth: np.ndarray, damage: float, draw: np.random.Generator) -> np.ndarray:
    """The truth with blocks of wrong classes over that share of it; void gets a class too."""
    prediction = np.where(truth < 0, 0, truth)
    coarse = draw.random((HEIGHT // 4, WIDTH // 4)).repeat(4, 0).repeat(4, 1)
    wrong = draw.integers(1, len(CLASSES), (HEIGHT // 8, WIDTH // 8)).repeat(8, 0).repeat(8, 1)
    return np.where(coarse < damage, (prediction + wrong) % len(CLASSES), prediction)


def picture(truth: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """A photograph of the scene: the palette, a slope of light and some grain."""
    colours = np.array(PALETTE, dtype=np.float32)[np.maximum(truth, 0)] / 255
    light = np.linspace(0.8, 1.1, WIDTH, dtype=np.float32)[None, :, None]
    return np.clip(colours * light + draw.normal(0, 0.02, colours.shape), 0, 1).astype(np.float32).transpose(2, 0, 1)


@dataclass(frozen=True)
class World:
    """What there is to see, and what the model makes of it undisturbed."""

    ids: tuple[str, ...]
    truths: list[np.ndarray]
    photographs: list[np.ndarray]
    cleans: list[np.ndarray]
    background: int | None
    draw: np.random.Generator

    def counts(self, maps: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Counts of predictions in every zone."""
        names = zones(self.truths[0], self.background)
        pairs = list(zip(maps, self.truths, strict=True))
        return {name: np.stack([count(m, t, zones(t, self.background)[name]) for m, t in pairs]) for name in names}

    def objects(self, maps: dict[str, list[np.ndarray]]) -> Objects:
        """One object for each class of an image."""
        found = [(place, klass) for place, truth in enumerate(self.truths) for klass in np.unique(truth[truth > 0])]
        parts = [self.truths[place] == klass for place, klass in found]
        pairs = [(place, part) for (place, _), part in zip(found, parts, strict=True)]

        def right(*predictions: list[np.ndarray]) -> np.ndarray:
            agree = [[part & (seen[place] == self.truths[place]) for seen in predictions] for place, part in pairs]
            return np.array([np.logical_and.reduce(each).sum() for each in agree])

        return Objects(
            image=np.array([place for place, _ in found]),
            klass=np.array([klass for _, klass in found]),
            area=np.array([part.sum() for part in parts]),
            clean=right(self.cleans),
            correct={label: right(predictions) for label, predictions in maps.items()},
            kept={label: right(self.cleans, predictions) for label, predictions in maps.items()},
        )

    def frame(self, label: str, place: int, prediction: np.ndarray) -> Frame:
        """An image with noise of the full radius."""
        image = self.photographs[place]
        delta = self.draw.uniform(-RADIUS, RADIUS, image.shape).astype(np.float32)
        perturbed = np.clip(image + delta, 0, 1)
        return Frame(self.ids[place], label, image, perturbed, self.truths[place], self.cleans[place], prediction)


def world(images: int, background: int | None, seed: int) -> World:
    """Scenes, their photographs and a good prediction of each."""
    draw = np.random.default_rng(seed)
    truths = [scene(draw) for _ in range(images)]
    photographs = [picture(truth, draw) for truth in truths]
    cleans = [predict(truth, 0.04, draw) for truth in truths]
    return World(tuple(f"test/{place:04d}" for place in range(images)), truths, photographs, cleans, background, draw)


def attack(seen: World, label: str, maps: list[np.ndarray], failing: int | None) -> Outcome:
    """The outcome of an attack that made these predictions and broke down on one image."""
    answered = np.arange(len(maps)) != failing
    counts = {zone: table * answered[:, None, None] for zone, table in seen.counts(maps).items()}
    nothing = (math.nan,) * 5
    rows = [
        ImageRow(id_, goal, "ok", "", RADIUS, RADIUS, 60 * RADIUS, 2500 * RADIUS, 0.8, 40, 40)
        if fine
        else ImageRow(id_, goal, "error", FAILURE, *nothing, 12, 11)
        for id_, fine in zip(seen.ids, answered, strict=True)
        for goal in GOALS
    ]
    return Outcome(
        label=label,
        about=f"{label.split()[0]}, 40 steps, step 2/255, linf 8/255, random start",
        goals=GOALS,
        counts={(goal, zone): table for goal in GOALS for zone, table in counts.items()},
        clean={},
        answered=answered,
        rows=ImageRows.of(rows),
        traces=traces(seen, counts["all"], answered),
    )


def traces(seen: World, counts: np.ndarray, answered: np.ndarray) -> dict[str, dict[int, int]]:
    """How 40 passes went: half of the way in the first ten."""
    before, after = (table[..., 0].sum(-1) for table in (seen.counts(seen.cleans)["all"], counts))
    return {
        id_: {1: int(first), 10: int(first + last) // 2, 40: int(last)}
        for id_, first, last, fine in zip(seen.ids, before, after, answered, strict=True)
        if fine
    }


def study(
    model: str = "cnn-normal",
    images: int = 40,
    *,
    scale: float = 1.0,
    background: int | None = 0,
    seed: int = 7,
    radius: int = 8,
) -> Study:
    """A whole study; `scale` weakens every attack, as on a sturdier model or in a smaller ball."""
    seen = world(images, background, seed)
    toughness = seen.draw.beta(2, 5, images)
    maps = {}
    for label, strength in STRENGTHS.items():
        damages = np.clip(strength * scale * (1.2 - toughness) + seen.draw.normal(0, 0.05, images), 0, 1)
        maps[label] = [predict(truth, damage, seen.draw) for truth, damage in zip(seen.truths, damages, strict=True)]
    return Study(
        model=model,
        data="shapes:test",
        eps=radius / 255,
        threat=f"linf {radius}/255",
        ball="linf",
        classes=CLASSES,
        background=background,
        void="255",
        palette=PALETTE,
        ids=seen.ids,
        clean=seen.counts(seen.cleans),
        clean_answered=np.ones(images, dtype=bool),
        outcomes=tuple(attack(seen, label, maps[label], 3 if label == FAILING else None) for label in maps),
        objects=seen.objects(maps),
        frames=tuple(seen.frame(label, place, made[place]) for label, made in maps.items() for place in range(6)),
        warnings=("1 image is RGBA; its transparency was dropped",),
        provenance=PROVENANCE,
    )
