"""CamVid, in the 11 classes that most networks are trained for and the layouts in which it goes round."""

from __future__ import annotations

from typing import Literal

from ..core import settings
from .dataset import datasets
from .files import Files, Pair, list_files, pair_up
from .labelling import VOID, Codes, colour_code
from .palette import Colour

# The colours of the original's 32 classes, by the class of the 11 that took them in; the first gives its colour.
COLOURS: dict[str, tuple[Colour, ...]] = {
    "sky": ((128, 128, 128),),
    "building": ((128, 0, 0), (192, 0, 128), (0, 128, 64), (64, 0, 64), (64, 192, 0)),
    "pole": ((192, 192, 128), (0, 0, 64)),
    "road": ((128, 64, 128), (128, 0, 192), (192, 0, 64)),
    "pavement": ((0, 0, 192), (64, 192, 128), (128, 128, 192)),
    "tree": ((128, 128, 0), (192, 192, 0)),
    "signsymbol": ((192, 128, 128), (128, 128, 64), (0, 64, 64)),
    "fence": ((64, 64, 128),),
    "car": ((64, 0, 128), (128, 64, 64), (64, 128, 192), (192, 64, 128), (192, 128, 192)),
    "pedestrian": ((64, 64, 0), (64, 128, 64), (64, 0, 192), (192, 128, 64)),
    "bicyclist": ((0, 128, 192), (192, 0, 192)),
}
BLACK: Colour = (0, 0, 0)  # void
LAYOUTS = {  # folder of images, folder of masks, ending of mask names; {0} is the split
    "plain": ("images", "masks", ""),
    "segnet": ("{0}", "{0}annot", ""),
    "original": ("701_StillsRaw_full", "LabeledApproved_full", "_L"),
}


@datasets.register("camvid")
@settings
class Camvid(Files):
    """CamVid: 11 classes of street scenes; masks of ids with void 11, or the original's colours."""

    layout: Literal["plain", "segnet", "original"] = "plain"  # images and masks, test and testannot, as published
    split: str = "test"  # for layout segnet, whose folders it names
    colours: bool = False  # masks are colour images of the 32 original classes

    classes = tuple(COLOURS)
    palette = tuple(colours[0] for colours in COLOURS.values())

    @property
    def name(self) -> str:
        """What it is called."""
        return f"camvid-{self.split}" if self.layout == "segnet" else "camvid"

    @property
    def void(self) -> str:
        """The id or colour of what is not annotated."""
        return "black" if self.colours else str(len(self.classes))

    @property
    def colour_masks(self) -> bool:
        """Whether masks hold colours."""
        return self.colours

    def find(self) -> dict[str, Pair]:
        """Find the files as the layout has them."""
        images, masks, suffix = (part.format(self.split) for part in LAYOUTS[self.layout])
        return pair_up(list_files(self.root / images), list_files(self.root / masks, suffix))

    def codes(self) -> Codes:
        """Return ids in the order of the classes, or every original colour under its class."""
        if not self.colours:
            return {label: label for label in range(len(COLOURS))} | {len(COLOURS): VOID}
        by_class = enumerate(COLOURS.values())
        return {colour_code(BLACK): VOID} | {colour_code(one): label for label, colours in by_class for one in colours}


datasets.preset("camvid-segnet", Camvid, "CamVid as SegNet's authors cut it: test and testannot", layout="segnet")
datasets.preset("camvid-original", Camvid, "CamVid as published, with colour masks", layout="original", colours=True)
