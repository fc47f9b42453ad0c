"""One watched call of a model: does it fail, wake up, differentiate or change while it predicts?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd import Variable

from ..core import BadInput
from .flag import Flag

CHANNELS = re.compile(r"to have (\d+) channels, but got (\d+) channels")  # torch, of a convolution


class Watched(NamedTuple):
    """What a call gave and what it did beside."""

    logits: Tensor | None  # none where it failed
    flags: list[Flag]


def watch(model: nn.Module, images: Tensor, name: str = "the model") -> Watched:
    """Call the model once; what the model and its adapter refuse as a whole is raised."""
    before = {name: tensor.clone() for name, tensor in _tensors(model)}
    failure, logits = None, None
    with torch.no_grad(), _watch_autograd() as backwards:
        try:
            logits = model(images)
        except Exception as error:  # noqa: BLE001 - whatever a model raises becomes a flag
            failure = error
    awake = [name or "the model itself" for name, module in model.named_modules() if module.training]
    if awake:
        return Watched(None, [_in_train_mode(awake)])
    changed = [name for name, tensor in _tensors(model) if not torch.equal(tensor, before[name])]
    flags = [_optimises(changed, bool(backwards))] if changed or backwards else []
    if failure is not None and not flags:
        if isinstance(failure, BadInput):
            raise failure
        _check_channels(failure, images, name)
        flags = [_fails(failure)]
    return Watched(logits, flags)


def _check_channels(failure: Exception, images: Tensor, name: str) -> None:
    """Refuse a model that takes another number of channels than the images have, as its first convolution says."""
    mismatch = CHANNELS.search(str(failure))
    if mismatch and int(mismatch[2]) == images.shape[1]:
        raise BadInput(
            f"{name}: takes images of {mismatch[1]} channels, the data has {mismatch[2]}; choose a model for these"
        ) from failure


@contextmanager
def _watch_autograd() -> Iterator[list[str]]:
    """Note every backward pass; all of Python's ways to one lead through the engine."""
    engine, noted = Variable._execution_engine, []

    class Engine:
        def __getattr__(self, name: str) -> Any:
            noted.extend(["backward"] if name == "run_backward" else [])
            return getattr(engine, name)

    Variable._execution_engine = Engine()  # type: ignore[assignment]
    try:
        yield noted
    finally:
        Variable._execution_engine = engine


def _tensors(model: nn.Module) -> list[tuple[str, Tensor]]:
    return [*model.named_parameters(), *model.named_buffers()]


def _in_train_mode(awake: list[str]) -> Flag:
    return Flag(
        "train-mode",
        f"{awake[0]} is in train mode during prediction",
        "dropout and batch statistics then change every answer",
        "do not call train() inside forward; the model is given in eval mode",
    )


def _optimises(changed: list[str], differentiates: bool) -> Flag:
    seen = "forward computes gradients" if differentiates else "forward changes the model"
    return Flag(
        "test-time-optimisation",
        f"{seen} ({changed[0]} is not what it was before)" if changed else seen,
        "attacks differentiate one call and miss what the model does to defend itself, so they look too weak",
        "evaluate the model without adaptation as well, or write an attack that goes through it",
    )


def _fails(error: Exception) -> Flag:
    message = str(error).partition("\n")[0]
    return Flag(
        "fails",
        f"the model raised {type(error).__name__}: {message}",
        "images on which it fails are missing from every figure",
        "mend the model, or leave such images out",
    )
