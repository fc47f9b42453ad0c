"""A page and its files: the one way in which every report is written, and its one rule for errors.

A folder that cannot be written ends in one line. A table, figure or picture that cannot be made is left out, and the
page says so. Equal inputs give equal bytes.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from PIL import Image

from ...core import BadInput
from .drawing import Drawing, style
from .pictures import GalleryPicture, Strip, is_large, write_copy
from .table import Table
from .table_files import formats, table_files
from .templating import render

FOLDERS = ("tables", "figures", "gallery")
INSIDE = 100_000  # bytes up to which a figure stands in the page, and follows light and dark
LISTED = 100  # rows of a table in the page; its files have all
OURS = "segstress</title>"  # how we know a page that we may write anew

NOUNS: dict[type, str] = {Table: "Table", Drawing: "Figure", GalleryPicture: "Picture", Strip: "The rest of the"}

Made = TypeVar("Made", Table, Drawing)
Data = TypeVar("Data")
Makers = Mapping[str, Callable[[Data], Any]]  # name -> function that gives one, none or several of its sort


@dataclass(frozen=True, eq=False)
class PagePart:
    """Tables, figures and pictures that belong together; their files are written."""

    name: str  # begins the names of its files, and is its anchor; empty = the page has one part only
    tables: Mapping[str, Table]
    drawings: Mapping[str, Drawing]
    strips: Sequence[Strip]

    def file(self, name: str) -> str:
        """Name the file of a table or figure, without its ending."""
        return _join(self.name, name)

    def formats(self, name: str) -> dict[str, str]:
        """List the formats of a table by their endings."""
        return formats(self.tables[name])

    def beside(self, name: str) -> bool:
        """Tell whether a figure is too large to stand in the page itself: those made of pictures are."""
        return len(self.drawings[name].svg) > INSIDE

    def svg(self, name: str) -> Markup:
        """Draw a figure for the page."""
        return Markup(self.drawings[name].inline(self.file(name)))  # drawn by us, its text escaped by matplotlib


@dataclass(eq=False)
class PageFiles:
    """The files of a page as they are written, and what could not be made of them."""

    folder: Path
    failures: list[str] = field(default_factory=list)  # sentences for the reader
    _pictures: dict[str, str] = field(default_factory=dict)  # files that are written, and those of their copies

    def make(self, sort: type[Made], makers: Makers[Data], data: Data, part: str = "") -> Iterator[Made]:
        """Make tables or figures one by one; what fails is noted, and the others are made all the same."""
        for name, make in makers.items():
            made: list[Made] = []
            with self._noting(sort, part, name), mpl.rc_context(style()):
                given = make(data)
                made += [given] if isinstance(given, sort) else given or ()
            yield from made

    def part(
        self,
        name: str = "",
        tables: Iterable[Table] = (),
        drawings: Iterable[Drawing] = (),
        strips: Iterable[Strip] = (),
    ) -> PagePart:
        """Write what belongs together: tables in up to four formats, figures as SVG and PDF, pictures as PNG."""
        written = (self._write_strip(strip) for strip in self._made(strips, name))
        shown = [strip for strip in written if strip.shown]  # pictures of the others are held no longer than needed
        return PagePart(name, self._write(name, tables), self._write(name, drawings), shown)

    def _write(self, part: str, items: Iterable[Made]) -> dict[str, Made]:
        written: dict[str, Made] = {}
        for item in items:
            begun: list[Path] = []
            with self._noting(type(item), part, item.name, but=(OSError,)):
                if item.name in written:
                    raise ValueError("another one has the same name")
                if not re.fullmatch(r"\w[\w.-]*", item.name):
                    raise ValueError("its name is no file name: expected letters, digits, dots and dashes")
                for file, pieces in _files(item, _join(part, item.name)):
                    begun.append(self._path(file))
                    with begun[-1].open("wb") as stream:
                        stream.writelines(pieces)
                written[item.name], begun = item, []
            for path in begun:  # of what could not be made
                path.unlink(missing_ok=True)
        return written

    def _made(self, strips: Iterable[Strip], part: str) -> Iterator[Strip]:
        """Go on until there are no more, or one cannot be made."""
        iterator = iter(strips)
        while True:
            strip = None
            with self._noting(Strip, part, "gallery"):
                strip = next(iterator, None)
            if strip is None:
                return
            yield strip

    def _write_strip(self, strip: Strip) -> Strip:
        pictures = (self._write_picture(picture) for picture in strip.pictures)
        return replace(strip, pictures=tuple(picture for picture in pictures if picture.small))

    def _write_picture(self, picture: GalleryPicture) -> GalleryPicture:
        """Write the file, once where rows share it, and a small copy of a large one."""
        pixels: np.ndarray | None = None
        with self._noting(GalleryPicture, "", picture.file):
            if picture.file not in self._pictures:
                pixels = picture.draw()
                image = Image.fromarray(pixels)
        if pixels is not None:
            image.save(self._path(picture.file))
            self._pictures[picture.file] = picture.file
            if is_large(pixels):
                self._pictures[picture.file] = picture.copy_file()
                write_copy(pixels, self._path(picture.copy_file()), smooth=picture.photograph)
        return replace(picture, small=self._pictures.get(picture.file, ""))

    def script(self, file: str, variable: str, data: Any) -> None:
        """Write data for the page's scripts: a file that sets one variable, since a page in a folder may not fetch."""
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
        self._path(file).write_text(f"window.{variable} = {text};\n", encoding="utf-8", newline="\n")

    def _path(self, file: str) -> Path:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    @contextmanager
    def _noting(self, sort: type, part: str, name: str, but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """Turn an error into a sentence on the page: after hours of work no report is lost for one faulty figure."""
        try:
            yield
        except but:
            raise
        except Exception as error:  # noqa: BLE001  a plug-in may raise anything; the page says what
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            self.failures.append(f"{NOUNS[sort]} {_join(part, name)} failed and is left out ({reason})")


def write_page(folder: Path, template: str, declare: Callable[[PageFiles], Mapping[str, Any]]) -> Path:
    """Write a page with all its files; its path.

    `declare` hands the parts of the page to its files, and returns what the template shows."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        index = folder / "index.html"
        _clear(folder, index)
        files = PageFiles(folder)
        values = declare(files)
        text = render(template, failures=files.failures, listed=LISTED, **values)
        index.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BadInput(
            f"cannot write the report into {folder}: {error.strerror or error}; make room or choose another folder"
        ) from error
    return index


def _clear(folder: Path, index: Path) -> None:
    """Remove the files of an earlier report: those that this one has no more must not stay."""
    if index.exists() and OURS in index.read_text(encoding="utf-8", errors="replace")[:2000]:
        for name in FOLDERS:
            shutil.rmtree(folder / name, ignore_errors=True)


def _files(item: Table | Drawing, name: str) -> Iterator[tuple[str, Iterable[bytes]]]:
    if isinstance(item, Table):
        return table_files(item, name)
    return iter(((f"figures/{name}.svg", [item.svg]), (f"figures/{name}.pdf", [item.pdf])))


def _join(part: str, name: str) -> str:
    return "-".join(filter(None, (part, name)))
