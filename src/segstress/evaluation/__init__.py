"""The walk of an evaluation: plan, cells, what is missing, answers re-checked, a folder of results, its report."""

from .closing import FinishedRun
from .run import evaluate

__all__ = ["FinishedRun", "evaluate"]
