"""What imagecorruptions-imaug 1.1.5 makes of one scene, kept as numbers so that tests need neither numba nor OpenCV.

python -m venv peer && peer/bin/pip install imagecorruptions-imaug==1.1.5
peer/bin/python tests/rooms/corruptions/oracle.py
"""

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("oracle.npz")
DRAWS = 64
DETERMINISTIC = (
    *("defocus_blur", "zoom_blur", "brightness", "contrast", "pixelate"),
    *("jpeg_compression", "gaussian_blur", "saturate"),
)
RANDOM = (
    *("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "glass_blur", "motion_blur"),
    *("snow", "fog", "elastic_transform", "spatter"),
)


def scene() -> np.ndarray:
    """128 x 192 pixels, 8 bits, with slopes, edges, texture, black, white and grey."""
    rows, columns = np.mgrid[:128, :192]
    waves = np.stack([np.sin(rows / 11 + shift) * np.cos(columns / 17 - shift) for shift in range(3)], -1)
    edges = ((rows // 24 + columns // 32) % 2)[..., None] * np.array([0.5, 0.2, 0.35])
    texture = np.random.RandomState(0).uniform(-0.1, 0.1, (128, 192, 3))
    image = ((0.35 + 0.3 * waves + edges + texture).clip(0, 1) * 255).astype(np.uint8)
    image[:16, :24], image[:16, 24:48], image[:16, 48:72] = 0, 255, 128
    return image


def sampled(images: np.ndarray) -> np.ndarray:
    """Every 47th value: enough to notice a difference, little to keep."""
    return images.reshape(-1)[::47]


def statistics(images: np.ndarray, clean: np.ndarray) -> np.ndarray:
    """Mean, standard deviation and rms against clean of each image, in grey levels; then the mean over images."""
    flat = images.reshape(len(images), -1).astype(np.float64)
    rms = np.sqrt(np.square(flat - clean.reshape(1, -1)).mean(1))
    return np.stack([flat.mean(1), flat.std(1), rms]).mean(1)


def draw(name: str, severity: int, number: int) -> np.ndarray:
    """One draw of the oracle."""
    from imagecorruptions import corrupt

    np.random.seed(number)
    seed = {"seed": number} if name in ("glass_blur", "impulse_noise") else {}
    return corrupt(scene(), severity=severity, corruption_name=name, **seed)


if __name__ == "__main__":
    kept = {}
    for severity in range(1, 6):
        for name in DETERMINISTIC:
            kept[f"{name}-{severity}"] = sampled(draw(name, severity, 0))
        for name in RANDOM:
            draws = np.stack([draw(name, severity, number) for number in range(DRAWS)])
            kept[f"{name}-{severity}"] = statistics(draws, scene())
    np.savez_compressed(FILE, **kept)
