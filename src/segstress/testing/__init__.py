"""The contract suites of every registry, public for authors of plug-ins: `check_attack("my-attack")` and so on."""

from .concordances import check_concordance
from .contract import CHECKS, check_attack, checks_of
from .corruptions import check_corruption
from .datasets import check_dataset
from .formats import check_format
from .losses import check_loss
from .metrics import check_metric
from .models import check_model
from .regions import check_region
from .reporting import check_figure, check_table
from .settings import check_settings
from .studies import toy_study
from .targets import check_target
from .toys import linear_model, smallest_radius, toy_batch, toy_model
from .training import check_optimiser, check_recipe, check_schedule

__all__ = [
    "CHECKS",
    "check_attack",
    "check_concordance",
    "check_corruption",
    "check_dataset",
    "check_figure",
    "check_format",
    "check_loss",
    "check_metric",
    "check_model",
    "check_optimiser",
    "check_recipe",
    "check_region",
    "check_schedule",
    "check_settings",
    "check_table",
    "check_target",
    "checks_of",
    "linear_model",
    "smallest_radius",
    "toy_batch",
    "toy_model",
    "toy_study",
]
