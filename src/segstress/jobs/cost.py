"""What a run will cost, before it is begun."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import torch
from torch import nn

from ..attacks import Attack
from ..attacks.multi_attack import MultiAttack
from ..core import Perturbation
from ..data import Dataset, resize
from ..data import load as load_data
from ..models import load as load_model
from ..models import models
from ..runtime import Cell
from .judge import stack
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
    """Passes are counted, seconds predicted from one timed pass of every model on every dataset."""
    torch.set_num_threads(plan.numerics.threads)
    share = workers or len(os.sched_getaffinity(0))
    costs = []
    for model in map(models.build, plan.models):
        network = load_model(model).to(plan.numerics.device, plan.numerics.torch_dtype())
        for data in map(load_data, plan.data):
            images, seconds = len(plan.ids(data)), _seconds(network, data, plan)
            for change in plan.changes():
                forwards, backwards = most_passes(change)
                judged = forwards + 3  # the clean prediction and that of every result
                time_needed = images * seconds * (FORWARD * judged + (1 - FORWARD) * backwards) / share
                names = (model.label, data.label, change.label)
                costs.append(Cost(names, images, images * forwards, images * backwards, time_needed))
    return costs


def most_passes(change: Perturbation) -> tuple[int, int]:
    """The most forwards and backwards that one image costs; corruptions do not look at the model."""
    return change.passes() if isinstance(change, Attack | MultiAttack) else (0, 0)


def affordable_passes(plan: Plan, cell: Cell, workers: int) -> float:
    """Forwards and backwards an image that fit into the budget, when every model and dataset gets an equal part."""
    data = load_data(cell.data)
    model = load_model(cell.model).to(plan.numerics.device, plan.numerics.torch_dtype())
    share = workers or len(os.sched_getaffinity(0))
    seconds = plan.budget * share / (len(plan.models) * len(plan.data) * max(len(plan.eps), 1))
    return 2 * seconds / (_seconds(model, data, plan) * len(plan.ids(data)))


def _seconds(model: nn.Module, data: Dataset, plan: Plan) -> float:
    """One forward and backward pass, after one to warm up."""
    sample = resize(data.read(plan.ids(data)[0]), data.resize)
    images = stack([sample]).images.to(plan.numerics.device, plan.numerics.torch_dtype()).requires_grad_()
    for _ in range(2):
        started = time.perf_counter()
        torch.autograd.grad(model(images).sum(), images)
        elapsed = time.perf_counter() - started
    return elapsed
