"""segstress: how much can a semantic-segmentation model be trusted?

>>> import segstress
>>> result = segstress.attack("pgd", model, images, labels, eps="8/255")
>>> result.damage
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PLACES = {  # public name -> where it lives; loaded on first use, so that `import segstress` stays instant
    "attack": ("segstress.api.tensors", "attack"),
    "corrupt": ("segstress.evaluation.corrupt", "corrupt"),
    "evaluate": ("segstress.evaluation.run", "evaluate"),
    "load_model": ("segstress.models", "load"),
    "load_data": ("segstress.data", "load"),
}
__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'segstress' has no attribute '{name}'")
    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return __all__
