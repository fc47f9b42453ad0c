"""A made study with believable numbers: scenes of rectangles, a good clean prediction, attacks of unequal strength."""

from __future__ import annotations

import numpy as np

from segstress.reports import Frame, ImageRow, Objects, Outcome, Study

CLASSES = ("background", "disc", "square", "triangle", "ring", "cross", "bar")
PALETTE = ((38, 42, 51), (230, 97, 60), (64, 138, 201), (92, 173, 102), (232, 188, 74), (154, 106, 186), (84, 190, 190))
HEIGHT, WIDTH = 48, 64
STRENGTHS = {"pgd 8/255": 0.82, "segpgd 8/255": 0.93, "cospgd 8/255": 0.9, "fgsm 8/255": 0.35}


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


def _row(image: str, goal: str, damage: float, linf: float) -> ImageRow:
    return ImageRow(image, goal, "ok", "", linf, linf, linf * 60, linf * 2500, damage, 40, 40)


def study(
    model: str = "cnn-normal", images: int = 40, *, scale: float = 1.0, background: int | None = 0, seed: int = 7
) -> Study:
    """A whole study; `scale` weakens every attack, as on a sturdier model."""
    draw = np.random.default_rng(seed)
    ids = tuple(f"test/{index:04d}" for index in range(images))
    truths = [scene(draw) for _ in ids]
    photographs = [picture(truth, draw) for truth in truths]
    cleans = [predict(truth, 0.04, draw) for truth in truths]
    toughness = draw.beta(2, 5, images)
    names = tuple(zones(truths[0], background))
    objects = [(place, klass) for place, truth in enumerate(truths) for klass in np.unique(truth[truth > 0])]
    parts = [(place, truths[place] == klass) for place, klass in objects]
    outcomes, frames, correct = [], [], {}
    for label, strength in STRENGTHS.items():
        damages = np.clip(strength * scale * (1.2 - toughness) + draw.normal(0, 0.05, images), 0, 1)
        maps = [predict(truth, damage, draw) for truth, damage in zip(truths, damages, strict=True)]
        counts = {
            zone: np.stack([count(m, t, zones(t, background)[zone]) for m, t in zip(maps, truths, strict=True)])
            for zone in names
        }
        answered = np.ones(images, dtype=bool)
        rows = [
            _row(id_, goal, d, 8 / 255) for id_, d in zip(ids, damages, strict=True) for goal in ("accuracy", "miou")
        ]
        if label.startswith("cospgd"):
            answered[3] = False
            for array in counts.values():
                array[3] = 0
            message = "logits: expected finite numbers, found NaN; check the model on this image"
            rows[6:8] = [ImageRow(ids[3], "any", "error", message, *[float("nan")] * 5, 12, 11)]
        goals = ("accuracy", "miou")
        outcomes.append(
            Outcome(
                label,
                f"{label.split()[0]}, 40 steps, step 2/255, linf 8/255, random start",
                "attack",
                goals,
                {(goal, zone): array for goal in goals for zone, array in counts.items()},
                {},
                answered,
                tuple(rows),
            )
        )
        correct[label] = np.array([np.sum(part & (maps[place] == truths[place])) for place, part in parts])
        for place in range(min(6, images)):
            delta = draw.uniform(-8 / 255, 8 / 255, photographs[place].shape).astype(np.float32)
            perturbed = np.clip(photographs[place] + delta, 0, 1)
            frames.append(
                Frame(ids[place], label, photographs[place], perturbed, truths[place], cleans[place], maps[place])
            )
    clean = {
        zone: np.stack([count(m, t, zones(t, background)[zone]) for m, t in zip(cleans, truths, strict=True)])
        for zone in names
    }
    return Study(
        model=model,
        data="shapes:test",
        eps=8 / 255,
        threat="linf 8/255",
        classes=CLASSES,
        background=background,
        void="255",
        palette=PALETTE,
        ids=ids,
        clean=clean,
        clean_answered=np.ones(images, dtype=bool),
        outcomes=tuple(outcomes),
        objects=Objects(
            image=np.array([place for place, _ in objects]),
            klass=np.array([klass for _, klass in objects]),
            area=np.array([part.sum() for _, part in parts]),
            clean=np.array([np.sum(part & (cleans[place] == truths[place])) for place, part in parts]),
            correct=correct,
        ),
        frames=tuple(frames),
        warnings=("1 image is RGBA; its transparency was dropped",),
        provenance={
            "segstress": "0.1.0",
            "torch": "2.13.0+cpu",
            "seed": "0",
            "command": "segstress attack --model compact:cnn-normal --data shapes:test --battery quick --eps 8/255",
            "model hash": "3fa1c09b77de",
            "data hash": "a01277e8c3f2",
            "numerics": "cpu, float32, 1 thread, 1 image per pass",
        },
    )
