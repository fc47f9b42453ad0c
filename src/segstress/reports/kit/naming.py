"""File names that cannot collide, and numbers as people read them."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence

LONGEST = 60  # characters of a name that are kept, from its end, where ids differ


def slugs(texts: Sequence[str]) -> tuple[str, ...]:
    """Make a file name for each text, in order; texts that would share one are numbered."""
    taken: set[str] = set()
    names = []
    for text in texts:
        plain = re.sub(r"[^a-z0-9.]+", "-", text.lower())[-LONGEST:].strip("-.") or "unnamed"
        name, number = plain, 1
        while name in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name)
        names.append(name)
    return tuple(names)


def in_lines(label: str, most: int = 36) -> str:
    """Break a label into lines that leave room for the figure beside it; nothing of it is cut."""
    return "\n".join(textwrap.wrap(label, most)) or label


def percent(share: float) -> str:
    """Write a share of one as a percentage without its sign; a trace is not shown as nothing."""
    if not math.isfinite(share):  # no value; or one image alone, which bounds a loss on no side
        return "-"
    return "<0.1" if 0 < share < 0.0005 else f"{round(100 * share, 1) + 0.0:.1f}"  # adding 0 undoes a negative zero


def plural(count: int, noun: str) -> str:
    """Write a number and its noun: `1 image`, `2 images`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
