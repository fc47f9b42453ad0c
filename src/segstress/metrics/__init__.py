"""From pixels to counts, from counts to scores."""

from ..core import import_all
from .counts import count, predict
from .metric import Declaration, Metric, declare, definition, metrics, over_images, over_pool, ratio

import_all(__name__, __path__)

__all__ = [
    "Declaration",
    "Metric",
    "count",
    "declare",
    "definition",
    "metrics",
    "over_images",
    "over_pool",
    "predict",
    "ratio",
]
