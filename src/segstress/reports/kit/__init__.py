"""What every page is made of: tables, drawings, pictures, templates, and the one way to write it."""

from .drawing import Drawing, canvas
from .page import PageFiles, PagePart, write_page
from .pictures import GalleryPicture, Strip
from .table import Cell, Column, Rows, Table

__all__ = [
    "Cell",
    "Column",
    "Drawing",
    "GalleryPicture",
    "PageFiles",
    "PagePart",
    "Rows",
    "Strip",
    "Table",
    "canvas",
    "write_page",
]
