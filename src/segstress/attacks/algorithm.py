"""What an algorithm is, and the register of those that can be named."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from ..core import Registry
from .search.problem import Keep, Problem, Seeks

__all__ = ["Algorithm", "Keep", "Seeks", "attacks", "name_without_steps", "needs_weights", "steps_of"]


@runtime_checkable
class Algorithm(Protocol):
    """A search for a harmful delta: it owns its loop and state and nothing else."""

    seeks: ClassVar[Seeks]  # most damage within a radius, or the smallest delta that does enough
    reaches: ClassVar[float | None]  # multiple of the optimal radius at which it breaks the two-class linear model

    def run(self, problem: Problem) -> Float[Tensor, "b c h w"]:
        """Return the last delta; the problem remembers the best of all it was shown."""
        ...

    def passes(self) -> tuple[int, int]:
        """Count the most forwards and backwards that its loop costs an image; `Attack` adds the looks around it."""
        ...


attacks: Registry[Algorithm] = Registry("attack")


def needs_weights(algorithm: Algorithm) -> bool:
    """Tell whether it weighs classes by their pixels in a training split, so that `Attack` needs the weights.

    An algorithm says so by a setting `balance`; a preset may fix it."""
    return getattr(algorithm, "balance", "image") == "split"


def steps_of(algorithm: Algorithm) -> int:
    """Return how many steps it takes; 0 where that is no setting of it."""
    return int(getattr(algorithm, "steps", 0))


def name_without_steps(algorithm: Algorithm) -> str:
    """Return its name without the number of steps, which tables and curves have apart."""
    attack, _, rest = attacks.name(algorithm).removesuffix(")").partition("(")
    settings = [setting for setting in rest.split(", ") if setting and not setting.startswith("steps=")]
    return f"{attack}({', '.join(settings)})" if settings else attack
