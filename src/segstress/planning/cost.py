"""What a run will cost, before it is begun."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from ..attacks.alone import by_parts
from ..core import Perturbation, perturbations
from ..core.system import cores
from ..data import Dataset, datasets, resize, stack
from ..data import load as load_data
from ..models import models, ready
from ..runtime import Cell, Numerics, Unit
from .batching import parameters, settle
from .parts import check_truth, count_parts
from .plan import Plan

FORWARD = 0.4  # share of a forward and backward pass that the forward takes


@dataclass(frozen=True)
class Cost:
    """The most that one cell takes."""

    names: tuple[str, str, str]  # model, data, perturbation
    images: int
    forwards: int
    backwards: int
    seconds: float


def estimate(plan: Plan, workers: int = 0) -> list[Cost]:
    """Count passes, and predict seconds from one timed pass of every model on every dataset."""
    check_truth(plan)
    torch.set_num_threads(plan.numerics.threads)
    share = workers or cores()
    costs = []
    for model in map(models.build, plan.models):
        network, _ = ready(model, plan.numerics.device, plan.numerics.torch_dtype())
        settled = settle(plan, [parameters(network)])
        for data in map(load_data, plan.data):
            images, seconds = len(plan.ids(data)), _seconds(network, data, plan, settled)
            for change in plan.changes():
                forwards, backwards, checks = _passes(change, data, plan.ids(data))
                time_needed = seconds * (FORWARD * (forwards + checks) + (1 - FORWARD) * backwards) / share
                names = (model.label, data.label, change.label)
                costs.append(Cost(names, images, forwards, backwards, time_needed))
    return costs


def unit_passes(unit: Unit) -> int:
    """Count the most passes that a unit takes, forwards and backwards and those of the referee."""
    return sum(cell_passes(cell, ids) for cell, ids in unit.steps if ids)


def cell_passes(cell: Cell, ids: Sequence[str]) -> int:
    """Count the most passes that some images of a cell take, forwards and backwards and those of the referee."""
    return sum(_passes(perturbations.build(cell.perturbation), datasets.build(cell.data), ids))


def _passes(change: Perturbation, data: Dataset, ids: Sequence[str]) -> tuple[int, int, int]:
    """Count the most forwards and backwards on these images, and the forwards by which they are scored."""
    forwards, backwards = change.passes()
    if by_parts(change):
        parts = count_parts(change, data, ids)
        return parts * forwards, parts * backwards, len(ids) + parts
    return len(ids) * forwards, len(ids) * backwards, len(ids) * 3  # the clean prediction and that of every result


def affordable_passes(plan: Plan, cell: Cell, workers: int) -> float:
    """Count the passes an image that fit into the budget, when every model and dataset gets an equal part."""
    data = load_data(cell.data)
    model, _ = ready(cell.model, plan.numerics.device, plan.numerics.torch_dtype())
    share = workers or cores()
    seconds = plan.budget * share / (len(plan.models) * len(plan.data) * max(len(plan.eps), 1))
    settled = settle(plan, [parameters(model)])
    return 2 * seconds / (_seconds(model, data, plan, settled) * len(plan.ids(data)))


def _seconds(model: nn.Module, data: Dataset, plan: Plan, numerics: Numerics) -> float:
    """Time one forward and backward pass, after one to warm up."""
    sample = resize(data.read(plan.ids(data)[0]), data.resize)
    images = stack([sample] * numerics.batch_size).images.to(numerics.device, numerics.torch_dtype()).requires_grad_()
    for _ in range(2):
        started = time.perf_counter()
        torch.autograd.grad(model(images).sum(), images)
        elapsed = time.perf_counter() - started
    return elapsed / len(images)
