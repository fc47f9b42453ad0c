"""Search for a harmful delta."""

from ..core import import_all
from .algorithm import Algorithm, attacks, needs_weights
from .attack import Attack
from .losses import View, losses
from .search.look import Look
from .search.problem import Problem

import_all(__name__, __path__)

__all__ = ["Algorithm", "Attack", "Look", "Problem", "View", "attacks", "losses", "needs_weights"]
