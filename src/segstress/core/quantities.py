"""Numbers that people type, bounded before anything is done or allocated so many times."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

MOST_CLASSES = 65_536  # as many as 16 bits of a mask tell apart
MOST_PIXELS = 50_000_000  # of an image: more do not pass through a network at once

Count = Annotated[int, Field(ge=1, le=1_000_000)]  # steps, draws, epochs: what is done so many times
CountOrNone = Annotated[int, Field(ge=0, le=1_000_000)]
Pixels = Annotated[int, Field(ge=1, le=65_535)]  # a side, or a way across an image
PixelsOrNone = Annotated[int, Field(ge=0, le=65_535)]
Classes = Annotated[int, Field(ge=1, le=MOST_CLASSES)]  # of a network: classes, or channels of its images
Threads = Annotated[int, Field(ge=1, le=1024)]
