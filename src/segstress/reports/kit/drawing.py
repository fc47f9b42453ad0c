"""A drawing in the house style: made once, written as SVG and PDF, and set into the page."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from .font import families

INK, PAPER = "#23272e", "#ffffff"
CALM, HARM = "#3572b0", "#c9512f"  # clean, worst case; told apart by colour-blind readers too
PALE = "#e3a691"  # harm shared by several
LINES = ("#3572b0", "#2a9d8f", "#8a63b5", "#b8860b", "#5b8c3a", "#c2588f", "#6b7785", "#1797b8")  # one of many
WIDTH = 7.6  # of every figure, inches
SOFT = "#7a8491"  # what is there for comparison only
PERCENT = FuncFormatter(lambda share, _: f"{100 * share:.3g}")  # 2.5 beside 5, where the whole axis is short
THEME = {"--ink": INK, "--paper": PAPER, "--calm": CALM, "--harm": HARM, "--pale": PALE}  # the page's variables

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: it can be searched, and the page sets its font
    "svg.hashsalt": "segstress",  # equal studies give equal bytes
    "pdf.fonttype": 42,
}


def style() -> dict[Any, Any]:
    """Return what figures are made with."""
    return STYLE | {"font.family": families()}


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with the words that go below it."""

    name: str  # of its files
    title: str
    caption: str
    figure: Figure

    @cached_property
    def svg(self) -> bytes:
        """The file, without a date."""
        return self._render("svg", {"Date": None})

    @cached_property
    def pdf(self) -> bytes:
        """The file, without a date."""
        return self._render("pdf", {"CreationDate": None})

    def _render(self, kind: str, metadata: dict[str, Any]) -> bytes:
        file = io.BytesIO()
        with mpl.rc_context(style()):
            self.figure.savefig(file, format=kind, metadata=metadata)
        self.figure.set_layout_engine("none")  # what was laid out for the first file stays for the second
        return file.getvalue()

    def inline(self, prefix: str) -> str:
        """Write SVG for the page: with its own ids, and the page's colours, so that it follows light and dark."""
        text = self.svg.decode()
        text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", text[text.index("<svg") :])
        for variable, colour in THEME.items():
            text = text.replace(colour, f"var({variable})")
        return text


def strokes(number: int) -> list[dict[str, Any]]:
    """Choose colours for so many lines; once they are used up, dashes."""
    dashes = ("-", "--", ":", "-.")
    return [
        {"color": LINES[line % len(LINES)], "linestyle": dashes[line // len(LINES) % len(dashes)]}
        for line in range(number)
    ]


def mosaic(rows: Sequence[Sequence[tuple[str, np.ndarray]]], least: int = 4) -> Figure:
    """Set pictures in rows, each with a word above it; sized as if there were at least so many columns."""
    columns = max(least, *map(len, rows))
    share = 1 / columns
    tall = [WIDTH * share * max(pixels.shape[0] / pixels.shape[1] for _, pixels in row) for row in rows]  # inches
    words = [0.14 * max(len(word.splitlines()) for word, _ in row) for row in rows]  # inches above each row
    height = sum(tall) + sum(words)
    figure = Figure(figsize=(WIDTH, height), facecolor=PAPER)
    bottom = 1.0
    for row, above, inches in zip(rows, words, tall, strict=True):
        bottom -= (above + inches) / height
        for column, (word, pixels) in enumerate(row):
            axis = figure.add_axes((column * share, bottom, 0.97 * share, 0.97 * inches / height))
            axis.set_axis_off()
            name = f"picture-{len(figure.axes)}"  # or equal pictures would share an id in the page
            axis.imshow(pixels, interpolation="none", gid=name)  # the file keeps the pixels as they are
            axis.set_title(word, fontsize=6, pad=2)
    return figure


def canvas(height: float, panels: int = 1, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Make an empty figure in the house style, with panels side by side; several rows share their axes."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained", facecolor=PAPER)
    share: Literal["none", "col"] = "col" if rows > 1 else "none"
    axes = figure.subplots(rows, panels, sharex=share, sharey=share, squeeze=False).ravel()
    for axis in axes:
        axis.set_facecolor("none")
    return figure, list(axes)
