"""What a model itself says of its classes."""

from __future__ import annotations

from dataclasses import dataclass

Colour = tuple[int, int, int]  # red, green, blue in 0..255


@dataclass(frozen=True)
class Legend:
    """The names of a model's classes in the order of its outputs, and their colours where it has any."""

    names: tuple[str, ...]
    palette: tuple[Colour, ...] = ()
