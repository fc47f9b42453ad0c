"""What every attack makes of the toy problem, in a few numbers that no other delta has."""

from __future__ import annotations

import torch

from segstress.attacks import attacks
from segstress.core import stream
from segstress.testing import toy_batch, toy_model
from segstress.testing.trial import RADIUS, attack_of, perturb, remaining

STEPS = {"damage": 8, "smallness": 40}
Facts = dict[str, list[float]]


def names() -> list[str]:
    """Every attack that needs no folder of images."""
    return [name for name in attacks.names() if name != "transfer" and not name.endswith("-of-tests")]


def facts(name: str) -> dict[str, Facts]:
    """For each goal: pixels right, size, and projections of the delta on three fixed directions, image by image."""
    torch.set_num_threads(1)
    model = toy_model()
    batch = toy_batch(model)
    algorithm = attacks.build(name)
    steps = STEPS[algorithm.seeks]
    if getattr(algorithm, "steps", 0) > steps:
        algorithm = attacks.build({"kind": name, "steps": steps})
    perturbed = perturb(attack_of(algorithm, RADIUS), model, batch, seed=3)
    found = {}
    for result in perturbed.results:
        delta = (result.images - batch.images).flatten(1)
        directions = torch.randn((3, delta.shape[1]), generator=stream(0, "golden", "directions"), dtype=delta.dtype)
        found[result.goal] = {
            "right": remaining(model, batch, result.images).tolist(),
            "size": [round(value, 10) for value in result.size.tolist()],
            "delta": [round(value, 10) for value in (delta @ directions.T).flatten().tolist()],
            "forwards": perturbed.forwards.tolist(),
            "backwards": perturbed.backwards.tolist(),
        }
    return found
