"""segstress: how much can a semantic-segmentation model be trusted?

>>> import segstress
>>> result = segstress.evaluate(model, dataset, battery="quick", eps="8/255")
>>> result.clean["accuracy"], result.worst["accuracy"]
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # at run time loaded on first use, so that `import segstress` stays instant
    from . import data as data
    from .api import (
        Attacked,
        Evaluated,
        LocalDamage,
        Ranked,
        SmallestChanges,
        attack,
        compete,
        corrupt,
        doctor,
        evaluate,
        load_data,
        load_model,
        minimal,
        report,
        spatial,
        train,
        verify,
    )

__version__ = "0.3.0"  # the one place of this number: the package's metadata is made from it
__all__ = [
    "Attacked",
    "Evaluated",
    "LocalDamage",
    "Ranked",
    "SmallestChanges",
    "__version__",
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


def __getattr__(name: str) -> object:
    if name == "data":
        return importlib.import_module("segstress.data")
    if name not in __all__:
        raise AttributeError(f"module 'segstress' has no attribute '{name}'")
    from . import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """The room `doctor` would hide the function of that name as soon as anything imports it."""

    @property
    def doctor(self) -> Any:
        """The function; the room's own names come by `from segstress.doctor import ...`."""
        return __getattr__("doctor")

    @doctor.setter
    def doctor(self, room: ModuleType) -> None:
        """What an import of the room does here is passed over."""


sys.modules[__name__].__class__ = _Package
