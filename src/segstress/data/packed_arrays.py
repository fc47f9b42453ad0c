"""Arrays that are kept beside the results, float images and label maps: read back exactly, or refused."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import pyarrow
import safetensors.numpy
from numpy import ndarray

from ..core import BadInput

MAGIC = b"segstress-kept-1"
CHECK = 16  # bytes of the checksum over all that follows it
LENGTH = 8  # bytes that tell how long the content is once decompressed


def pack(arrays: Mapping[str, ndarray]) -> bytes:
    """Return compress named arrays to bytes; equal arrays give equal bytes."""
    content = safetensors.numpy.save({name: np.asarray(array, order="C") for name, array in arrays.items()})
    compressed: bytes = pyarrow.Codec("zstd").compress(content, asbytes=True)
    body = len(content).to_bytes(LENGTH, "big") + compressed
    return MAGIC + _checksum(body) + body


def unpack(data: bytes) -> dict[str, ndarray]:
    """Return the arrays as they were."""
    check, body = data[len(MAGIC) : len(MAGIC) + CHECK], data[len(MAGIC) + CHECK :]
    if not data.startswith(MAGIC) or check != _checksum(body):
        raise BadInput(f"kept arrays are damaged: {len(data)} bytes that `pack` did not write; run their cell again")
    length = int.from_bytes(body[:LENGTH], "big")
    content = pyarrow.Codec("zstd").decompress(body[LENGTH:], length, asbytes=True)
    return safetensors.numpy.load(content)


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=CHECK).digest()
