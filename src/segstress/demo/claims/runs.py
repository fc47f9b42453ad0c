"""The runs that several claims share, on the embedded models."""

from __future__ import annotations

from typing import Any

from ...fitting.train import read_training_plan
from ...models.checkpoint import read_card
from ...models.compact import zoo
from ...training import recipes
from .evidence import Evaluation

MODELS = (
    "cnn-normal",
    "transformer-normal",
    "unet-normal",
    "cnn-pgd-at-50",
    "cnn-ddc-at",
    "cnn-pgd-at-100",
    "cnn-segpgd-at-100",
    "transformer-pgd-at-100",
)  # one of each training
NORMAL = ("cnn-normal", "transformer-normal")  # those of which the zoo has several seeds
SEEDS = ("", "-seed-1", "-seed-2")  # of their trainings, as the zoo names them
TWIN = "cnn-pgd-at-50-no-grain"  # of cnn-pgd-at-50, made and tested without the grain
EPS = "8/255"


def named(*names: str) -> list[str]:
    """Return models of the zoo as a plan writes them."""
    return [f"compact:{name}" for name in names]


def share(model: str) -> float:
    """Return the share of adversarial images by which a model of the zoo was trained."""
    recipe: Any = recipes.build(read_card(zoo()[model])["plan"]["recipe"])
    return float(recipe.share)


def _battery(images: int, models: tuple[str, ...], rules: str = "") -> dict[str, Any]:
    """Spare images with less than 0.1 % of their pixels right the rest of the battery; the report says so."""
    data = [f"shapes:test?count={images}{rules}"]
    return {"models": named(*models), "data": data, "battery": "strong", "eps": EPS, "done_at": "0.1%"}


def _training_attack(images: int) -> dict[str, Any]:
    """Return the attack inside the training of cnn-pgd-at-50, as its plan has it."""
    recipe: Any = recipes.build(read_training_plan("cnn-pgd-at-50", {}).recipe)
    trained = [model for model in MODELS if share(model)]
    return {"models": named(*trained), "data": [f"shapes:test?count={images}"], "perturbations": [recipe.attack]}


def _clean(images: int) -> dict[str, Any]:
    """Take more clean images, since they cost little."""
    twins = [name + seed for name in NORMAL for seed in SEEDS[1:]]
    return {"models": named(*MODELS, *twins), "data": [f"shapes:test?count={8 * images}"]}


BATTERY = Evaluation("battery", lambda images: _battery(images, MODELS))
NO_GRAIN = Evaluation("no-grain", lambda images: _battery(images, (TWIN,), "&grain=0"))
TRAINING_ATTACK = Evaluation("training-attack", _training_attack)
CLEAN = Evaluation("clean", _clean)
