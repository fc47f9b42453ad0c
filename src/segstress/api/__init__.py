"""What Python users call."""

from ..evaluation.corrupt import corrupt
from ..evaluation.verify import verify
from .asking import load_data, load_model
from .results import Evaluated, LocalDamage, SmallestChanges
from .runs import evaluate, minimal, spatial
from .tensors import Attacked, attack

__all__ = [
    "Attacked",
    "Evaluated",
    "LocalDamage",
    "SmallestChanges",
    "attack",
    "corrupt",
    "evaluate",
    "load_data",
    "load_model",
    "minimal",
    "spatial",
    "verify",
]
