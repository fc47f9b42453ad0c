"""The runs that several claims share, on the embedded models and on images that belong to the findings alone."""

from __future__ import annotations

from typing import Any

from ...fitting.train import read_training_plan
from ...models.checkpoint import read_card
from ...models.compact import zoo
from ...training import recipes
from .evidence import Evaluation

SPLIT = "shapes:final"
FIRST = 2000  # of its scenes; earlier runs looked at those from 0 to 127 and from 1000 to 1255
HALVES = ("pgd-at-50", "segpgd-at-50")  # matched trainings: the same scenes, steps, start, inner step and radius
WHOLES = ("pgd-at-100", "segpgd-at-100")
ANNEALED = "annealed-at"
ROBUST_START, CLEAN_START = "pir-at", "clean-init-at"  # one recipe, begun with robust and with clean features
KINDS = (*HALVES, *WHOLES, ANNEALED, ROBUST_START, CLEAN_START)
NUMBERS = (3, 4, 5)  # seeds of all trainings that claims order; the first run looked at 0, 1 and 2, the second at these
SEEDS = tuple(f"-seed-{number}" for number in NUMBERS)
NORMAL = ("cnn-normal", "transformer-normal")
OTHERS = (
    "cnn-normal",
    "transformer-normal",
    "unet-normal",
    "cnn-pgd-at-50",
    "cnn-ddc-at",
    "cnn-pgd-at-100",
    "cnn-segpgd-at-100",
    "transformer-pgd-at-100",
)  # single trainings, for the table of the zoo; no claim orders them
EPS = "8/255"


def seeded(name: str) -> tuple[str, ...]:
    """Return a training's models, one for each seed."""
    return tuple(name + seed for seed in SEEDS)


def matched(kind: str) -> tuple[str, ...]:
    """Return a matched training's models, one for each seed."""
    return seeded(f"matched-{kind}")


PLAIN = seeded(NORMAL[0])  # what the matched trainings began with
RIVALS = seeded(NORMAL[1])
MATCHED = tuple(name for kind in KINDS for name in matched(kind))
TWINS = matched(f"{HALVES[0]}-no-grain")  # made and tested without the grain
GRAINLESS = (
    *TWINS,
    *seeded("cnn-normal-no-grain"),
    "cnn-normal-no-grain",
    "cnn-pgd-at-50-no-grain",
)  # all that are; claims compare the twins alone


def named(*names: str) -> list[str]:
    """Return models of the zoo as a plan writes them."""
    return [f"compact:{name}" for name in names]


def share(model: str) -> float:
    """Return the share of adversarial images by which a model of the zoo was trained."""
    recipe: Any = recipes.build(read_card(zoo()[model])["plan"]["recipe"])
    return float(recipe.share)


def data(images: int, rules: str = "") -> list[str]:
    """Return the images of the findings."""
    return [f"{SPLIT}?count={images}&first={FIRST}{rules}"]


def _battery(images: int, models: tuple[str, ...], rules: str = "") -> dict[str, Any]:
    """Spare images with less than 0.1 % of their pixels right the rest of the battery; the report says so."""
    given = {"battery": "strong", "eps": EPS, "done_at": "0.1%"}
    return {"models": named(*models), "data": data(images, rules), **given}


def _training_attack(images: int) -> dict[str, Any]:
    """Return the attack inside the training of matched-pgd-at-50, as its plan has it."""
    recipe: Any = recipes.build(read_training_plan(f"matched-{HALVES[0]}", {}).recipe)
    return {"models": named(*MATCHED), "data": data(images), "perturbations": [recipe.attack]}


def _clean(images: int) -> dict[str, Any]:
    """Take more clean images, since they cost little."""
    return {"models": named(*PLAIN, *RIVALS, *MATCHED, *OTHERS), "data": data(8 * images)}


BATTERY = Evaluation("battery", lambda images: _battery(images, (*PLAIN, *RIVALS, *MATCHED, *OTHERS)))
NO_GRAIN = Evaluation("no-grain", lambda images: _battery(images, GRAINLESS, "&grain=0"))
TRAINING_ATTACK = Evaluation("training-attack", _training_attack)
CLEAN = Evaluation("clean", _clean)
