"""Pascal VOC 2012, as its archive unpacks."""

from __future__ import annotations

from pathlib import Path

from jaxtyping import Int64
from numpy import ndarray

from ..core import BadInput, settings
from . import sbd
from .dataset import datasets
from .files import Files, Pair, list_files
from .labelling import VOID, Codes
from .palette import Colour

_NAMES = (
    "background, aeroplane, bicycle, bird, boat, bottle, bus, car, cat, chair, cow, dining table, dog, horse, "
    "motorbike, person, potted plant, sheep, sofa, train, tv monitor"
)
NAMES = tuple(_NAMES.split(", "))
AUGMENTED = "train_aug"


@datasets.register("voc")
@settings
class Voc(Files):
    """Pascal VOC 2012: 20 sorts of objects and background; the root holds JPEGImages."""

    split: str = "val"  # a list in ImageSets/Segmentation; with sbd also train_aug: all that is labelled and not in val
    sbd: Path | None = None  # folder of SBD whose masks serve photographs without one of VOC's: see train_aug
    void_as_background: bool = False  # count the outlines, 255, as background

    classes = NAMES
    background = 0

    @property
    def name(self) -> str:
        """What it is called."""
        return f"voc-{self.split}"

    @property
    def void(self) -> str:
        """Outlines and unsure pixels."""
        return "none" if self.void_as_background else "255"

    @property
    def palette(self) -> tuple[Colour, ...]:
        """The colours of the mask files."""
        return tuple(_colour(label) for label in range(len(NAMES)))

    def find(self) -> dict[str, Pair]:
        """Find the files of the list, in its order; VOC's own masks go before those of SBD."""
        ids = self._ids()
        images, own = (list_files(self.root / folder) for folder in ("JPEGImages", "SegmentationClass"))
        masks = own if self.sbd is None else {**sbd.list_masks(self.sbd), **own}
        return {id: Pair(images.get(id), masks.get(id)) for id in ids}

    def _ids(self) -> list[str]:
        path = self._list(self.split)
        if self.split != AUGMENTED or path.is_file() or self.sbd is None:
            return _read_ids(path)
        left_out = set(_read_ids(self._list("val")))
        union = [*_read_ids(self._list("train")), *sbd.list_ids(self.sbd)]
        return sorted(set(union) - left_out)

    def _list(self, split: str) -> Path:
        return self.root / "ImageSets" / "Segmentation" / f"{split}.txt"

    def read_codes(self, mask: Path) -> Int64[ndarray, "h w"]:
        """Read a mask of VOC or of SBD."""
        return sbd.read_codes(mask) if mask.suffix == sbd.SUFFIX else super().read_codes(mask)

    def codes(self) -> Codes:
        """Return class numbers, and 255 for void."""
        return {label: label for label in range(len(NAMES))} | {255: 0 if self.void_as_background else VOID}


def _read_ids(path: Path) -> list[str]:
    if not path.is_file():
        raise BadInput(f"{path} does not exist; expected the list of ids of split '{path.stem}'")
    return path.read_text(encoding="utf-8").split()


def _colour(label: int) -> Colour:
    """Follow VOC's colour map: the bits of the number go in turn to red, green and blue, from the highest bit down."""
    red, green, blue = (
        sum((label >> (3 * bit + channel) & 1) << (7 - bit) for bit in range(3)) for channel in range(3)
    )
    return red, green, blue


datasets.preset("voc-512", Voc, "VOC with the shorter side at 512 pixels (arXiv:2206.07179)", resize="short-512")
datasets.preset(
    "voc-473",
    Voc,
    "VOC at 473 x 473 pixels with void as background, the protocol of SEA (arXiv:2306.12941)",
    resize="centre-crop-473",
    void_as_background=True,
)
