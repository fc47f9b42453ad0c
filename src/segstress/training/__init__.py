"""Make models sturdier: recipes, and the one loop that carries them out."""

from ..core import import_all as _import_all
from .augmentation import Augmentation
from .backbone import Backbone
from .checkpoints import Checkpoints
from .loop import Loop, Moment, Watcher, fit
from .optimisers import Optimiser, optimisers
from .recipes import Recipe, recipes
from .schedules import Schedule, schedules
from .task import Task

_import_all(__name__, __path__)

__all__ = [
    "Augmentation",
    "Backbone",
    "Checkpoints",
    "Loop",
    "Moment",
    "Optimiser",
    "Recipe",
    "Schedule",
    "Task",
    "Watcher",
    "fit",
    "optimisers",
    "recipes",
    "schedules",
]
