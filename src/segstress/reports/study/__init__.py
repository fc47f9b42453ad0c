"""The report of studies: models on data under attack, clean against worst case."""

from ...core import import_all
from .registry import drawings, tables

import_all(__name__, __path__)

__all__ = ["drawings", "tables"]
