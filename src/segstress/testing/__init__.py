"""The contract suites, public for authors of plug-ins."""

from .contract import CHECKS, check_attack
from .toys import linear_model, smallest_radius, toy_batch, toy_model

__all__ = ["CHECKS", "check_attack", "linear_model", "smallest_radius", "toy_batch", "toy_model"]
