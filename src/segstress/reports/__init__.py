"""Numbers and pictures from measured studies; never loads a model, never opens a store."""

from .report import write
from .study import Choice, Floor, Frame, Gap, ImageRow, Objects, Outcome, PartsFrame, Study
from .summary import summary

__all__ = [
    "Choice",
    "Floor",
    "Frame",
    "Gap",
    "ImageRow",
    "Objects",
    "Outcome",
    "PartsFrame",
    "Study",
    "summary",
    "write",
]
