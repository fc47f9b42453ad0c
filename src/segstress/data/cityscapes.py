"""Cityscapes with fine annotations, as its archives unpack."""

from __future__ import annotations

from ..core import settings
from .dataset import datasets
from .files import Files, Pair, list_files, pair_up
from .labelling import VOID, Codes
from .palette import Colour

IDS = 34  # in the label files, of which 19 are evaluated
TRAINED: dict[int, tuple[str, Colour]] = {
    7: ("road", (128, 64, 128)),
    8: ("sidewalk", (244, 35, 232)),
    11: ("building", (70, 70, 70)),
    12: ("wall", (102, 102, 156)),
    13: ("fence", (190, 153, 153)),
    17: ("pole", (153, 153, 153)),
    19: ("traffic light", (250, 170, 30)),
    20: ("traffic sign", (220, 220, 0)),
    21: ("vegetation", (107, 142, 35)),
    22: ("terrain", (152, 251, 152)),
    23: ("sky", (70, 130, 180)),
    24: ("person", (220, 20, 60)),
    25: ("rider", (255, 0, 0)),
    26: ("car", (0, 0, 142)),
    27: ("truck", (0, 0, 70)),
    28: ("bus", (0, 60, 100)),
    31: ("train", (0, 80, 100)),
    32: ("motorcycle", (0, 0, 230)),
    33: ("bicycle", (119, 11, 32)),
}


@datasets.register("cityscapes")
@settings
class Cityscapes(Files):
    """Cityscapes: 19 classes of street scenes; the root holds leftImg8bit and gtFine. Half size: resize=scale-0.5."""

    split: str = "val"  # a folder in both

    classes = tuple(name for name, _ in TRAINED.values())
    void = "255"  # the train id that stands for all ids not evaluated
    palette = tuple(colour for _, colour in TRAINED.values())

    @property
    def name(self) -> str:
        """What it is called."""
        return f"cityscapes-{self.split}"

    def find(self) -> dict[str, Pair]:
        """Find every image of the split, under its city."""
        return pair_up(
            list_files(self.root / "leftImg8bit" / self.split, "_leftImg8bit"),
            list_files(self.root / "gtFine" / self.split, "_gtFine_labelIds"),
        )

    def codes(self) -> Codes:
        """Take the 19 evaluated ids in their order; every other id is void."""
        return dict.fromkeys(range(IDS), VOID) | {id: label for label, id in enumerate(TRAINED)}


datasets.preset(
    "cityscapes-512x1024", Cityscapes, "Cityscapes at half size (as in arXiv:2407.09150)", resize="512x1024"
)
datasets.preset(
    "cityscapes-1024x2048", Cityscapes, "Cityscapes at full size (as in arXiv:2206.07179)", resize="1024x2048"
)
