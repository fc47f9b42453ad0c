"""Numbers and pictures from measured studies; never loads a model, never opens a store."""

from .study import Frame, ImageRow, Objects, Outcome, Study

__all__ = ["Frame", "ImageRow", "Objects", "Outcome", "Study"]
