"""Where images come from: ids, samples at native size, and the rule that resizes them."""

from ..core import import_all
from .dataset import Dataset, Sample, datasets, load, readable
from .resizing import Resize, resize, resize_images, resize_mask
from .sample import stack
from .wrapped import wrap

import_all(__name__, __path__)

__all__ = [
    "Dataset",
    "Resize",
    "Sample",
    "datasets",
    "load",
    "readable",
    "resize",
    "resize_images",
    "resize_mask",
    "stack",
    "wrap",
]
