"""The Semantic Boundaries Dataset: masks for most photographs of Pascal VOC that have none of VOC's own."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from ..core import BadImage, BadInput

SUFFIX = ".mat"


def list_masks(root: Path) -> dict[str, Path]:
    """Return the mask of every id; the root is the folder `dataset` of its archive, which holds `cls`."""
    masks = {path.stem: path for path in sorted((root / "cls").glob(f"*{SUFFIX}"))}
    if not masks:
        raise BadInput(f"sbd: {root} has no cls/*{SUFFIX}; expected the folder 'dataset' of benchmark_RELEASE")
    return masks


def list_ids(root: Path) -> list[str]:
    """Return the ids of its training and validation lists."""
    paths = [root / f"{name}.txt" for name in ("train", "val")]
    missing = [str(path) for path in paths if not path.is_file()]
    if missing:
        raise BadInput(f"sbd: {missing[0]} does not exist; expected the lists of benchmark_RELEASE beside cls")
    return [id_ for path in paths for id_ in path.read_text(encoding="utf-8").split()]


def read_codes(path: Path) -> Int64[ndarray, "h w"]:
    """Read the class of every pixel; the masks know no void."""
    from scipy.io import loadmat  # slow to import, and few need it

    try:
        codes = loadmat(io.BytesIO(path.read_bytes()))["GTcls"]["Segmentation"][0, 0]
    except Exception as error:  # the format is parsed by hand, so broken files raise almost anything
        raise BadImage(f"mask {path} is damaged ({error}); expected GTcls.Segmentation of SBD") from error
    return np.asarray(codes).astype(np.int64)
