"""Small trees of files in the layouts that datasets come in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

Write = Callable[[Path, object], Path]


@pytest.fixture
def write() -> Write:
    """Write an array as an image file, with the folders above it."""

    def write(path: Path, pixels: object) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.asarray(pixels, dtype=np.uint8)).save(path)
        return path

    return write


@pytest.fixture
def photo() -> np.ndarray:
    """An RGB image of 4 x 6 pixels in which no two values are the same."""
    return np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


@pytest.fixture
def labelled_folder(tmp_path: Path, write: Write, photo: np.ndarray) -> Path:
    """Five images `a` to `e` with masks of classes 0 to 2 and void 255."""
    for place, name in enumerate("abcde"):
        write(tmp_path / "images" / f"{name}.png", photo + place)
        write(tmp_path / "masks" / f"{name}.png", [[0, 1, 2, 255, 1, 0]] * 4)
    return tmp_path
