"""The two drawings that carry a finding: points with their intervals in rows, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter

from ...metrics.intervals import Interval
from ..kit.drawing import LINES, SOFT, Drawing, canvas, strokes, style

Points = Mapping[str, Mapping[str, Interval]]  # row -> series -> figure
MARKS = "os^"  # once the colours are used up
Line = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class Words:
    """What is written around a drawing."""

    name: str  # of its files
    title: str
    caption: str
    across: str  # name of the horizontal axis
    up: str = ""


def points(words: Words, rows: Points, mark: float | None = None, unit: float = 100) -> Drawing:
    """Draw each row's figures with their intervals; a dotted line marks what they are to be held against."""
    series = list(dict.fromkeys(name for row in rows.values() for name in row))
    with mpl.rc_context(style()):
        figure, (axis,) = canvas(0.7 + 0.07 * len(series) + len(rows) * (0.25 + 0.04 * len(series)))
        for (number, name), stroke in zip(enumerate(series), strokes(len(series)), strict=True):
            shift = 0.7 * ((number + 0.5) / len(series) - 0.5)  # side by side within the row
            marks = [(line + shift, row[name]) for line, row in enumerate(rows.values()) if name in row]
            values = np.array([[point.value, point.low, point.high] for _, point in marks]) * unit
            reach = np.abs(values[:, 1:] - values[:, :1]).T
            axis.errorbar(
                values[:, 0],
                [line for line, _ in marks],
                xerr=reach,
                fmt=MARKS[number // len(LINES) % len(MARKS)],
                ms=4,
                color=stroke["color"],
                label=name,
            )
        if mark is not None:
            axis.axvline(unit * mark, color=SOFT, linestyle=":")
        axis.set_yticks(range(len(rows)), list(rows))
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.set_xlabel(words.across)
        if len(series) > 1:
            figure.legend(loc="outside upper right", ncols=min(4, len(series)))
        return Drawing(words.name, words.title, words.caption, figure)


def curves(words: Words, lines: Mapping[str, Line], *, steps: bool = False, logarithmic: bool = False) -> Drawing:
    """Draw one curve for each name; as stairs where each value holds up to the next."""
    with mpl.rc_context(style()):
        figure, (axis,) = canvas(3.4)
        for (name, (across, up)), stroke in zip(lines.items(), strokes(len(lines)), strict=True):
            drawn = {"drawstyle": "steps-post"} if steps else {"marker": "o", "markersize": 4}
            axis.plot(across, up, label=name, **stroke, **drawn)
        if logarithmic:
            axis.set_xscale("log")
            plain = FuncFormatter(lambda value, _: f"{value:g}")
            axis.xaxis.set_major_formatter(plain)
            axis.xaxis.set_minor_formatter(plain if _narrow(lines) else NullFormatter())
        axis.set(xlabel=words.across, ylabel=words.up, ylim=(0, None))
        figure.legend(loc="outside right upper")
        return Drawing(words.name, words.title, words.caption, figure)


def _narrow(lines: Mapping[str, Line]) -> bool:
    """Tell whether all values lie within a decade, where an axis would else show a single number."""
    values = [value for across, _ in lines.values() for value in across if value > 0]
    return bool(values) and max(values) < 10 * min(values)
