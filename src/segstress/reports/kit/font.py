"""The font of figures: a light copy of the one that ships with matplotlib.

A PDF carries the letters that it shows, and finding them in a font of six thousand glyphs takes longer than drawing
the figure. The copy has the letters that our figures use, with the same outlines and widths; for all others
matplotlib turns to the whole font."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from fontTools import subset
from matplotlib.font_manager import findfont, fontManager

WHOLE, LIGHT = "DejaVu Sans", "Segstress Sans"
LETTERS = (
    range(0x20, 0x250),  # Latin
    range(0x370, 0x400),  # Greek
    range(0x2010, 0x2040),  # dashes, quotation marks
    range(0x2190, 0x2200),  # arrows
    range(0x2200, 0x2270),  # minus, infinity, at most
)
NAMES = (1, 4, 16)  # of the family, in a font's table of names


def families() -> list[str]:
    """Return the fonts of a figure in their order."""
    _light_copy()
    return [LIGHT, WHOLE]


@cache
def _light_copy() -> tempfile.TemporaryDirectory[str]:
    """Make it, once a process; return its folder, which lasts as long."""
    options = subset.Options(recalc_timestamp=False, name_IDs=["*"])
    options.drop_tables += ["FFTM"]  # a time stamp
    font = subset.load_font(findfont(WHOLE), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[letter for letters in LETTERS for letter in letters])
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in NAMES:
            record.string = LIGHT
    folder = tempfile.TemporaryDirectory(prefix="segstress-font-")
    path = Path(folder.name) / "light.ttf"
    font.save(path)
    fontManager.addfont(path)
    return folder
