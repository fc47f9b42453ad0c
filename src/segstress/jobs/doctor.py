"""Can this evaluation be trusted? Cheap checks of a model on a few images before any attack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn

from ..attacks import Attack
from ..core import BadImage, BadInput, perturbations
from ..data import Dataset, Sample, datasets, resize
from ..models import load as load_model
from ..runtime import Cell
from .judge import stack
from .plan import Plan

SAMPLES = 2  # images looked at


def examine(plan: Plan, cells: Iterable[Cell]) -> Iterator[str]:
    """Warnings about each model on each dataset; what makes every figure meaningless is refused."""
    attacked = any(isinstance(perturbations.build(cell.perturbation), Attack) for cell in cells)
    for spec in plan.models:
        model = load_model(spec).to(plan.numerics.device, plan.numerics.torch_dtype())
        for source in map(datasets.build, plan.data):
            for sample in _readable(source, plan.ids(source)):
                images = stack([sample]).images.to(plan.numerics.device, plan.numerics.torch_dtype())
                name = f"model {spec if isinstance(spec, str) else spec.get('kind')}"
                yield from diagnose(model, images, name, len(source.classes), attacked=attacked)


def _readable(source: Dataset, ids: list[str]) -> list[Sample]:
    """The first few images that can be read; the others get their error rows in the run."""
    found: list[Sample] = []
    for id_ in ids:
        if len(found) == SAMPLES:
            break
        try:
            found.append(resize(source.read(id_), source.resize))
        except BadImage:
            continue
    return found


def diagnose(model: nn.Module, images: Tensor, name: str, classes: int, *, attacked: bool) -> list[str]:
    """Look at one batch; raises BadInput for what cannot be evaluated, returns warnings for what is doubtful."""
    try:
        with torch.no_grad():
            logits, again = model(images), model(images)
    except BadInput:
        raise
    except Exception:  # noqa: BLE001 - the run itself records, image by image, what a model raises
        return []
    if logits.ndim != 4 or logits.shape[-2:] != images.shape[-2:]:
        height, width = images.shape[-2:]
        raise BadInput(f"{name}: expected logits (b, classes, {height}, {width}), found {tuple(logits.shape)}")
    if logits.shape[1] != classes:
        raise BadInput(
            f"{name}: gives {logits.shape[1]} classes, the data has {classes}; "
            "choose the matching dataset, or drop outputs with drop_outputs"
        )
    if not torch.isfinite(logits).all():
        return []
    if not torch.allclose(logits, again, rtol=1e-4, atol=1e-4 * float(logits.abs().max())):
        raise BadInput(
            f"{name}: two calls on one image differ by up to {float((logits - again).abs().max()):.3g}; "
            "its output is random (active dropout?), so one forward pass proves nothing: make it deterministic"
        )
    if attacked:
        _check_gradient(model, images, name)
    sums = logits.sum(1)
    if logits.min() >= 0 and logits.max() <= 1 and torch.allclose(sums, torch.ones_like(sums), atol=1e-3):
        return [
            f"{name}: outputs are probabilities, not logits, so gradients may vanish; return the values before softmax"
        ]
    return []


def _check_gradient(model: nn.Module, images: Tensor, name: str) -> None:
    images = images.detach().clone().requires_grad_()
    logits = model(images)
    if not logits.requires_grad:
        raise BadInput(
            f"{name}: no gradient reaches the images (no_grad or detach inside forward?), so it cannot be attacked"
        )
    (gradient,) = torch.autograd.grad(logits.logsumexp(1).sum() - logits.sum(), images, allow_unused=True)
    if gradient is None or not gradient.any():
        raise BadInput(f"{name}: the gradient with respect to the images is zero everywhere, so it cannot be attacked")
