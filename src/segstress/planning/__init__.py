"""What is asked: plans, batteries, and what they will cost."""

from .battery_files import Battery, batteries, battery
from .plan import Plan, read_plan

__all__ = ["Battery", "Plan", "batteries", "battery", "read_plan"]
