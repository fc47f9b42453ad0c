"""The font of figures: a light copy of the one that ships with matplotlib.

A PDF carries the letters that it shows, and finding them in a font of six thousand glyphs takes longer than drawing
the figure. The copy has the letters that our figures use, with the same outlines and widths; for all others
matplotlib turns to the whole font. Making it takes half a second, so it is kept in the user's cache."""

from __future__ import annotations

import atexit
import hashlib
import io
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

from matplotlib.font_manager import findfont, fontManager

from ...core import BadInput, digest
from ...core.files import write
from ...core.system import cache_folder

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
    _add_light()
    return [LIGHT, WHOLE]


@cache
def _add_light() -> None:
    """Let matplotlib know the light copy, once a process."""
    whole = Path(findfont(WHOLE))
    try:
        fontManager.addfont(_kept_copy(whole))
    except (OSError, RuntimeError, BadInput):  # a cache that cannot be written, or was damaged
        folder = tempfile.TemporaryDirectory(prefix="segstress-font-")
        atexit.register(folder.cleanup)
        path = Path(folder.name) / "light.ttf"
        path.write_bytes(light_copy(whole))
        fontManager.addfont(path)


def _kept_copy(whole: Path) -> Path:
    """Return the copy in the cache, made where it is not there yet."""
    made_of = [hashlib.sha256(whole.read_bytes()).hexdigest(), version("fonttools"), [*map(str, LETTERS)]]
    path = cache_folder() / "fonts" / f"light-{digest(made_of)}.ttf"
    if not path.exists():
        write(path, light_copy(whole))
    return path


def light_copy(whole: Path) -> bytes:
    """Return the font with our letters only, under its own name."""
    from fontTools import subset  # takes a while, and is needed once

    options = subset.Options(recalc_timestamp=False, name_IDs=["*"])
    options.drop_tables += ["FFTM"]  # a time stamp
    font = subset.load_font(str(whole), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[letter for letters in LETTERS for letter in letters])
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in NAMES:
            record.string = LIGHT
    file = io.BytesIO()
    font.save(file)
    return file.getvalue()
