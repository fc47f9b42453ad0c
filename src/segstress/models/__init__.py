"""What is stressed: networks of any origin behind one interface, images in [0, 1] to logits at their size."""

from ..core import import_all as _import_all
from .checkpoint import save
from .interface import Interface, Pad
from .legend import Legend
from .model import Model, fingerprint, forget, load, models, ready
from .segmenter import Segmenter

_import_all(__name__, __path__)

__all__ = [
    "Interface",
    "Legend",
    "Model",
    "Pad",
    "Segmenter",
    "fingerprint",
    "forget",
    "load",
    "models",
    "ready",
    "save",
]
