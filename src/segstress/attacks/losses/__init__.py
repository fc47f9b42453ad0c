"""Per-pixel losses that attacks climb; void never reaches them, and summing is done by the problem."""

from ...core import import_all
from .view import Loss, LossName, Past, Pixels, View, losses

import_all(__name__, __path__)

__all__ = ["Loss", "LossName", "Past", "Pixels", "View", "losses"]
