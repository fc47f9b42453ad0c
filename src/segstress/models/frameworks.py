"""Frameworks that not everyone has: what to say when one cannot be imported, and what most of their models share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..core import BadInput
from .interface import Interface
from .model import first_line

# Mean and standard deviation of ImageNet's RGB pixels in [0, 1], by which pretrained encoders are normalised.
IMAGENET = Interface(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))


@contextmanager
def framework(extra: str) -> Iterator[None]:
    """Around imports that need an extra of segstress."""
    try:
        yield
    # torchvision raises RuntimeError beside a torch that it was not built for.
    except (ImportError, RuntimeError) as error:
        raise BadInput(f"this model needs more: pip install 'segstress[{extra}]' ({first_line(error)})") from error
