"""A drawing in the house style: made once, written as SVG and PDF, and set into the page."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, PAPER = "#23272e", "#ffffff"
CALM, HARM = "#3572b0", "#c9512f"  # clean, worst case; told apart by colour-blind readers too
PALE = "#e3a691"  # harm shared by several
THEME = {"--ink": INK, "--paper": PAPER, "--calm": CALM, "--harm": HARM, "--pale": PALE}  # the page's variables

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # ships with matplotlib, so the layout is the same everywhere
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
        with mpl.rc_context(STYLE):
            self.figure.savefig(file, format=kind, metadata=metadata)
        return file.getvalue()

    def inline(self, prefix: str) -> str:
        """SVG for the page: ids of its own, colours from the page's variables so that it follows light and dark."""
        text = self.svg.decode()
        text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", text[text.index("<svg") :])
        for variable, colour in THEME.items():
            text = text.replace(colour, f"var({variable})")
        return text


def canvas(height: float, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """An empty figure in the house style, with panels side by side."""
    figure = Figure(figsize=(7.6, height), layout="constrained", facecolor=PAPER)
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for axis in axes:
        axis.set_facecolor("none")
    return figure, list(axes)
