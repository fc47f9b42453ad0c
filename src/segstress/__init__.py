"""segstress: how much can a semantic-segmentation model be trusted?

>>> import segstress
>>> result = segstress.attack("pgd", model, images, labels, eps="8/255")
>>> result.damage
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # at run time loaded on first use, so that `import segstress` stays instant
    from .api import Attacked, Evaluated, attack, corrupt, evaluate, load_data, load_model, verify

__version__ = "0.2.0"
__all__ = [
    "Attacked",
    "Evaluated",
    "__version__",
    "attack",
    "corrupt",
    "evaluate",
    "load_data",
    "load_model",
    "verify",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'segstress' has no attribute '{name}'")
    from . import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return __all__
