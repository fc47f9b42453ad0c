"""The light font of figures: what it has looks as in the whole one, what it lacks comes from there."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

from segstress.reports.kit.drawing import Drawing, canvas, style
from segstress.reports.kit.font import LIGHT, WHOLE, families


def _width(family: str, text: str) -> int:
    font = FT2Font(findfont(FontProperties(family=family), fallback_to_default=False))
    font.set_size(40, 72)
    font.set_text(text)
    return font.get_width_height()[0]


def test_its_letters_are_as_wide_as_those_of_the_whole_font():
    families()
    for text in ("accuracy against passes, AVATAR", "8/255 − 0.5 ≤ ε × 100 %", "Größe, łódź"):
        assert _width(LIGHT, text) == _width(WHOLE, text)


def test_letters_that_it_lacks_come_from_the_whole_font():
    with mpl.rc_context(style()):
        figure, (axis,) = canvas(1.0)
        axis.set_title("road, дорога")
    drawing = Drawing("signs", "Signs", "", figure)
    assert "дорога" in drawing.svg.decode()
    assert drawing.pdf.count(b"/Type /Font ") + drawing.pdf.count(b"/Type /Font\n") >= 2  # one for each alphabet
