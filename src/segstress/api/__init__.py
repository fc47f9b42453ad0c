"""What Python users call."""

from ..data import load as load_data
from ..evaluation import Evaluated, evaluate
from ..evaluation.corrupt import corrupt
from ..evaluation.verify import verify
from ..models import load as load_model
from .tensors import Attacked, attack

__all__ = ["Attacked", "Evaluated", "attack", "corrupt", "evaluate", "load_data", "load_model", "verify"]
