"""The straight lines; the only room that knows all the others."""

from .battery import batteries, battery
from .evaluate import Progress, Run, Ways, evaluate
from .plan import Plan, read_plan

__all__ = ["Plan", "Progress", "Run", "Ways", "batteries", "battery", "evaluate", "read_plan"]
