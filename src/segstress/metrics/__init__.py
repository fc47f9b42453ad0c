"""From pixels to counts, from counts to scores."""

from ..core import import_all
from .counts import count, predict
from .metric import Metric, definition, metrics, over_images, over_pool

import_all(__name__, __path__)

__all__ = ["Metric", "count", "definition", "metrics", "over_images", "over_pool", "predict"]
