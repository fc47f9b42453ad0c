"""Numbers and pictures from measured studies; never loads a model, never opens a store."""

from .report import write
from .study import Choice, Frame, Gap, ImageRow, Objects, Outcome, Study
from .summary import summary

__all__ = ["Choice", "Frame", "Gap", "ImageRow", "Objects", "Outcome", "Study", "summary", "write"]
