"""Randomness per image id, never per batch: order, shards and neighbours cannot change a draw."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import torch
from jaxtyping import Float
from pydantic import AfterValidator
from torch import Tensor


def fold_seed(seed: int) -> int:
    """Return a seed of any size as one of 64 bits; one that fits stays what it is."""
    return seed if -(2**63) <= seed < 2**63 else seed_of(seed, "", "fold")


Seed = Annotated[int, AfterValidator(fold_seed)]


def seed_of(seed: int, image: str, purpose: str) -> int:
    """Return a 63-bit seed for one image and one purpose, such as `start-0` or `mask-0`."""
    words = f"{seed}\0{image}\0{purpose}".encode()
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "big") >> 1


def stream(seed: int, image: str, purpose: str) -> torch.Generator:
    """Return the generator of that seed, on the CPU so that every device sees the same draws."""
    return torch.Generator().manual_seed(seed_of(seed, image, purpose))


@contextmanager
def seeded(seed: int, image: str, purpose: str) -> Iterator[None]:
    """Set the global generators to that seed, for models that draw from them; put them back afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed_of(seed, image, purpose))
        yield


def uniform(like: Float[Tensor, "b ..."], ids: Sequence[str], seed: int, purpose: str) -> Float[Tensor, "b ..."]:
    """Draw from [-1, 1), image by image, in the shape, dtype and device of `like`."""
    draws = [torch.rand(like.shape[1:], generator=stream(seed, id_, purpose), dtype=torch.float64) for id_ in ids]
    return (2 * torch.stack(draws) - 1).to(like)
