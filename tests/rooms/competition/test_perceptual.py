"""Fingerprints of images: near ones for the same picture, far ones for others."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import zoom

from segstress.competition.perceptual import distance, perceptual_hash


def scene(seed: int) -> np.ndarray:
    coarse = np.random.default_rng(seed).random((3, 6, 6))
    return zoom(coarse, (1, 16, 16), order=1).astype(np.float32)


def test_scaled_and_noisy_copies_stay_near_and_other_images_far() -> None:
    image = scene(0)
    noisy = np.clip(image + np.random.default_rng(1).normal(0, 0.02, image.shape), 0, 1)
    assert distance(perceptual_hash(image), perceptual_hash(noisy)) <= 6
    assert distance(perceptual_hash(image), perceptual_hash(image[:, ::2, ::2])) <= 6
    assert min(distance(perceptual_hash(image), perceptual_hash(scene(seed))) for seed in range(2, 30)) > 6


def test_hash_fits_64_bits() -> None:
    assert all(0 <= perceptual_hash(scene(seed)) < 2**64 for seed in range(20))
