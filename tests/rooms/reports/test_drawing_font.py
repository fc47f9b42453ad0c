"""The light font of figures: what it has looks as in the whole one, what it lacks comes from there."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

from segstress.core import BadInput
from segstress.reports.kit import font
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


def test_the_copy_is_made_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    font._add_light.__wrapped__()
    (kept,) = (tmp_path / "segstress" / "fonts").iterdir()
    assert kept.read_bytes() == font.light_copy(Path(findfont(WHOLE)))
    monkeypatch.setattr(font, "light_copy", None)  # whoever made it again would fail
    font._add_light.__wrapped__()


def refuse(path, data):
    raise BadInput(f"cannot write {path}")


def damage(path, data):
    path.parent.mkdir(parents=True)
    path.write_bytes(data[:100])


@pytest.mark.parametrize("write", [refuse, damage], ids=lambda way: way.__name__)
def test_a_cache_that_is_of_no_use_is_no_obstacle(write, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(font, "write", write)
    added = []
    monkeypatch.setattr(font.fontManager, "addfont", lambda path: added.append(FT2Font(path).family_name))
    font._add_light.__wrapped__()
    assert added == [LIGHT]
