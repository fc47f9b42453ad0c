"""What datasets of files share whose images may be more than 8-bit RGB."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from ..core import BadImage, BadInput, Depth, depth_of, settings
from ..core.quantities import Count
from .arrays import CHANNELS, Encoding, Unsettled
from .dataset import Dataset


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


@settings
class Encoded(Dataset):
    """Image files of any depth and number of channels."""

    scale: Annotated[float, Field(gt=0)] | None = None  # the value that is 1; needed by all but 8-bit images
    channels: CHANNELS | None = None  # where arrays have them; none = the shortest side, refused where that is unclear
    show: Annotated[tuple[Count, ...], BeforeValidator(_several)] = ()
    # channels that pictures show, counted from 1: three, or one as grey; none = the first three

    @field_validator("show")
    @classmethod
    def _check_show(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if len(value) not in (0, 1, 3):
            raise BadInput(f"show: expected one channel or three, such as show=3,2,1, found {len(value)}")
        return value

    @property
    def encoding(self) -> Encoding:
        """What the files do not say of their arrays."""
        return Encoding(self.scale, self.channels)

    @property
    def depth(self) -> Depth:
        """How finely its files store pixels, as their scale says."""
        return depth_of(self.scale)

    def check(self) -> None:
        """Refuse images that need a setting, by the first of them."""
        super().check()
        try:
            channels = len(self.read(next(filter(None, self.stretches()))[0]).image)
        except Unsettled as error:
            raise BadInput(str(error)) from error
        except BadImage:  # its own row will say so
            return
        if max(self.show, default=0) > channels:
            raise BadInput(f"show={','.join(map(str, self.show))}: the images of {self.name} have {channels} channels")
