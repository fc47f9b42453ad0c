"""Degrade images as the world does."""

from ..core import import_all
from .corrupt import Corrupt
from .corruption import Altered, Corruption, alter, corruptions
from .draws import Draws
from .suites import SUITES, expand

import_all(__name__, __path__)

__all__ = ["SUITES", "Altered", "Corrupt", "Corruption", "Draws", "alter", "corruptions", "expand"]
