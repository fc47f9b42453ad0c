"""A 64-bit fingerprint of how an image looks, by which near-duplicates are known."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from PIL import Image
from scipy.fft import dctn

SIDE, KEPT = 32, 8  # pixels of the small copy, lowest frequencies that decide


def perceptual_hash(image: Float[np.ndarray, "c h w"]) -> int:
    """Return the signs of a small grey copy's lowest frequencies against their median: sturdy to scale and JPEG."""
    grey = Image.fromarray(image.mean(0).astype(np.float32)).resize((SIDE, SIDE), Image.Resampling.BOX)
    frequencies = dctn(np.asarray(grey, dtype=np.float64), norm="ortho")[:KEPT, :KEPT].ravel()
    signs = frequencies > np.median(frequencies[1:])  # the first is the mean brightness
    return int("".join("1" if sign else "0" for sign in signs), 2)


def distance(first: int, second: int) -> int:
    """Count bits in which two fingerprints differ."""
    return (first ^ second).bit_count()
