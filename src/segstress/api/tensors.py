"""One attack on tensors in memory, for notebooks and scripts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int64, Shaped
from torch import Tensor, nn

from ..attacks.search.feasible import norms
from ..core import BadInput, Batch, Scene, aimed
from ..metrics.counts import predict
from ..planning.perturbing import read_perturbation


@dataclass(frozen=True, repr=False)
class Attacked:
    """The perturbed images and what they do; every figure is measured by a fresh forward pass."""

    images: Float[Tensor, "b c h w"]
    delta: Float[Tensor, "b c h w"]
    size: Float[Tensor, " b"]  # in the attack's norm
    norms: dict[str, Float[Tensor, " b"]]  # linf, l2 and l1
    damage: Float[Tensor, " b"]  # share of valid pixels that are wrong (targeted: at the target)
    correct: Int64[Tensor, " b"]  # valid pixels still right
    forwards: Int64[Tensor, " b"]
    backwards: Int64[Tensor, " b"]

    def __repr__(self) -> str:
        damage, passes = 100 * self.damage.mean(), int(self.forwards.sum() + self.backwards.sum())
        sizes = f"size {self.size.min():.4g} to {self.size.max():.4g}"
        return f"<Attacked: {len(self.images)} images, damage {damage:.1f} % on average, {sizes}, {passes} passes>"


def attack(
    name: str,
    model: nn.Module,
    images: Float[Tensor, "b c h w"],
    labels: Shaped[Tensor, "b h w"],
    *,
    eps: str | float | None = None,
    ignore: int | None = 255,
    target: int | str | Tensor | None = None,
    seed: int = 0,
    **settings: Any,
) -> Attacked:
    """Return attack any module on images in [0, 1].

    `target` is a class id, a spec such as map:file.png, or label maps."""
    spec = {"attack": name, **settings} | ({} if eps is None else {"eps": eps})
    spec |= {} if target is None or isinstance(target, Tensor) else {"target": target}
    change = read_perturbation(spec, {})
    if change.threat is None:
        raise BadInput(f"'{name}' is not an attack")
    batch = _batch(images, labels, ignore, target if isinstance(target, Tensor) else None)
    batch = aimed(batch, change.threat.target, Scene(model))
    _check_classes(model, batch)
    perturbed = change.perturb(model, batch, seed)
    result = perturbed.results[0]
    delta = result.images - batch.images
    with torch.no_grad():
        prediction = predict(model(result.images))
    right = ((prediction == batch.labels) & batch.valid).flatten(1).sum(1)
    return Attacked(
        images=result.images,
        delta=delta,
        size=result.size,
        norms=norms(delta),
        damage=_damage(prediction, batch),
        correct=right,
        forwards=perturbed.forwards,
        backwards=perturbed.backwards,
    )


def _damage(prediction: Tensor, batch: Batch) -> Tensor:
    if batch.goal is None or batch.goal_valid is None:
        won, counted = (prediction != batch.labels) & batch.valid, batch.valid
    else:
        won, counted = (prediction == batch.goal) & batch.goal_valid, batch.goal_valid
    return won.flatten(1).sum(1).double() / counted.flatten(1).sum(1).clamp(min=1)


def _batch(images: Tensor, labels: Tensor, ignore: int | None, target: Tensor | None) -> Batch:
    if images.ndim != 4 or not images.is_floating_point():
        raise BadInput(f"images: expected floats (b, c, h, w), found {images.dtype} {tuple(images.shape)}")
    if images.min() < 0 or images.max() > 1:
        raise BadInput(
            f"images: expected values in [0, 1], found {float(images.min()):g} to {float(images.max()):g}; "
            "divide 8-bit images by 255 and keep normalisation inside the model"
        )
    if labels.shape != images.shape[:1] + images.shape[2:]:
        raise BadInput(f"labels: expected shape (b, h, w) like the images, found {tuple(labels.shape)}")
    if target is not None and target.shape != labels.shape:
        raise BadInput(f"target: expected a label map {tuple(labels.shape)}, found {tuple(target.shape)}")
    safe, valid = _split(labels, ignore)
    goal, goal_valid = (None, None) if target is None else _split(target, ignore)
    ids = tuple(
        hashlib.sha256(image.detach().cpu().contiguous().numpy().tobytes()).hexdigest()[:16] for image in images
    )
    return Batch(ids=ids, images=images.detach(), labels=safe, valid=valid, goal=goal, goal_valid=goal_valid)


def _check_classes(model: nn.Module, batch: Batch) -> None:
    if model.training:
        raise BadInput("the model is in train mode, so its output depends on the batch; call model.eval() first")
    with torch.no_grad():
        classes = model(batch.images[:1]).shape[1]
    highest = max(int(labels.max()) for labels in (batch.labels, batch.goal) if labels is not None)
    if highest >= classes:
        raise BadInput(f"labels: found id {highest}, the model has {classes} classes; name the void id with ignore=...")


def _split(labels: Tensor, ignore: int | None) -> tuple[Tensor, Tensor]:
    """Return the labels that are safe to gather, and where they mean something."""
    whole = labels.long()
    valid = torch.ones_like(whole, dtype=torch.bool) if ignore is None else whole != ignore
    if (whole[valid] < 0).any():
        raise BadInput(f"labels: found id {int(whole[valid].min())}; name the void id with ignore=...")
    return whole.masked_fill(~valid, 0), valid
