"""Is a perturbed image allowed at all? Box, ball and region, judged from the pixels alone."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from ..attacks.search.feasible import norms
from ..core import Batch, Perturbation, Result, Threat, format_radius

SLACK = 1e-6  # rounding of float32 images, in [0, 1] units


def faults(perturbation: Perturbation, batch: Batch, result: Result, zones: Mapping[str, Tensor]) -> list[str]:
    """Say for each image what is wrong with its result; empty where nothing is."""
    delta = result.images - batch.images
    messages = [""] * len(batch)

    def note(wrong: Tensor, say: str) -> None:
        for index in torch.nonzero(wrong).flatten().tolist():
            messages[index] = messages[index] or say

    note(~torch.isfinite(delta).flatten(1).all(1), "pixels that are not numbers")
    low, high = result.images.flatten(1).aminmax(dim=1)
    note((low < 0) | (high > 1), "pixels outside [0, 1]")
    if "inside" in zones:
        note(((delta != 0) & ~zones["inside"][:, None]).flatten(1).any(1), "pixels changed outside the region")
    threat = perturbation.threat
    if threat is not None and math.isfinite(threat.radius):
        norm, radius = threat.norm, threat.radius
        slack = SLACK if norm == "linf" else SLACK * math.sqrt(delta[0].numel())
        note(norms(delta)[norm] > radius + slack, f"outside the {norm} ball of radius {format_radius(radius)}")
    return messages


def won(
    threat: Threat, batch: Batch, prediction: Tensor, clean: Tensor, zones: Mapping[str, Tensor]
) -> tuple[Tensor, Tensor]:
    """Return the share of an image's pixels that are as the attack wants: at its target, or off its reference."""
    reference = clean if threat.reference == "prediction" else batch.labels
    if batch.goal is None or batch.goal_valid is None:
        counted, taken = batch.valid, prediction != reference
    else:
        counted, taken = batch.goal_valid, prediction == batch.goal
    counted = counted & zones.get("aim", counted)
    return (taken & counted).flatten(1).sum(1), counted.flatten(1).sum(1)
