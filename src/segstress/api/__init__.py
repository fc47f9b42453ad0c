"""What Python users call."""

from ..evaluation.corrupt import corrupt
from .asking import load_data, load_model
from .results import Evaluated, LocalDamage, SmallestChanges
from .runs import evaluate, minimal, spatial
from .tensors import Attacked, attack
from .walks import Ranked, compete, doctor, report, train, verify

__all__ = [
    "Attacked",
    "Evaluated",
    "LocalDamage",
    "Ranked",
    "SmallestChanges",
    "attack",
    "compete",
    "corrupt",
    "doctor",
    "evaluate",
    "load_data",
    "load_model",
    "minimal",
    "report",
    "spatial",
    "train",
    "verify",
]
