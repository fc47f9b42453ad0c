"""The runs that several claims share, on the embedded models and on images that belong to the findings alone."""

from __future__ import annotations

from typing import Any

from ...fitting.train import read_training_plan
from ...models.checkpoint import read_card
from ...models.compact import zoo
from ...training import recipes
from .evidence import Evaluation

SPLIT = "shapes:final"
HALVES = ("pgd-at-50", "segpgd-at-50")  # matched trainings: the same scenes, steps, start, inner step and radius
WHOLES = ("pgd-at-100", "segpgd-at-100")
ANNEALED, PIR = "annealed-at", "pir-at"
KINDS = (*HALVES, *WHOLES, ANNEALED, PIR)
NUMBERS = (0, 1, 2)  # seeds of the matched trainings
SEEDS = ("", "-seed-1", "-seed-2")  # the same, as normal networks of the zoo are named
NORMAL = ("cnn-normal", "transformer-normal")  # those of which the zoo has several seeds
PLAIN = tuple(NORMAL[0] + seed for seed in SEEDS)  # what the matched trainings began with
OTHERS = (
    "transformer-normal",
    "unet-normal",
    "cnn-pgd-at-50",
    "cnn-ddc-at",
    "cnn-pgd-at-100",
    "cnn-segpgd-at-100",
    "transformer-pgd-at-100",
)  # single trainings, for the table of the zoo; no claim orders them
TWIN = "cnn-pgd-at-50-no-grain"  # of cnn-pgd-at-50, made and tested without the grain
EPS = "8/255"


def matched(kind: str) -> tuple[str, ...]:
    """Return a matched training's models, one for each seed."""
    return tuple(f"matched-{kind}-seed-{number}" for number in NUMBERS)


MATCHED = tuple(name for kind in KINDS for name in matched(kind))


def named(*names: str) -> list[str]:
    """Return models of the zoo as a plan writes them."""
    return [f"compact:{name}" for name in names]


def share(model: str) -> float:
    """Return the share of adversarial images by which a model of the zoo was trained."""
    recipe: Any = recipes.build(read_card(zoo()[model])["plan"]["recipe"])
    return float(recipe.share)


def data(images: int, rules: str = "") -> list[str]:
    """Return the images of the findings."""
    return [f"{SPLIT}?count={images}{rules}"]


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
    twins = [NORMAL[1] + seed for seed in SEEDS[1:]]
    return {"models": named(*PLAIN, *MATCHED, *OTHERS, *twins), "data": data(8 * images)}


BATTERY = Evaluation("battery", lambda images: _battery(images, (*PLAIN, *MATCHED, *OTHERS)))
NO_GRAIN = Evaluation("no-grain", lambda images: _battery(images, (TWIN,), "&grain=0"))
TRAINING_ATTACK = Evaluation("training-attack", _training_attack)
CLEAN = Evaluation("clean", _clean)
