"""What is likely to be meant otherwise in a training that can be carried out."""

from __future__ import annotations

from collections.abc import Iterator

from ..training import Optimiser, recipes
from ..training.trainee import Trainee
from .plan import TrainingPlan


def cautions(plan: TrainingPlan, optimiser: Optimiser, network: Trainee) -> Iterator[str]:
    """Yield settings without effect, and what a recipe rests on and does not get."""
    heads = getattr(optimiser, "heads", 1)  # a plug-in's may have no such setting
    if heads != 1 and next(network.head_parameters(), None) is None:
        yield (
            f"heads={heads:g} of the optimiser has no effect: the network names no parameters of heads, and all learn"
            " at the same rate; give it head_parameters(), or set heads=1"
        )
    if recipes.read(plan.recipe)["kind"] == "pir-at" and plan.backbone is None and plan.start is None:
        yield (
            "pir-at is published on features that are robust already, and this training has neither backbone nor start:"
            " it begins with the weights that the model is made with; --backbone takes a file or a model"
        )
