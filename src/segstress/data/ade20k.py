"""ADE20K as cut for the scene parsing challenge of 2016 (ADEChallengeData2016)."""

from __future__ import annotations

from ..core import settings
from .dataset import datasets
from .files import Files, Pair, list_files, pair_up
from .labelling import VOID, Codes

_NAMES = (
    "wall, building, sky, floor, tree, ceiling, road, bed, windowpane, grass, cabinet, sidewalk, person, earth, door, "
    "table, mountain, plant, curtain, chair, car, water, painting, sofa, shelf, house, sea, mirror, rug, field, "
    "armchair, seat, fence, desk, rock, wardrobe, lamp, bathtub, railing, cushion, base, box, column, signboard, "
    "chest of drawers, counter, sand, sink, skyscraper, fireplace, refrigerator, grandstand, path, stairs, runway, "
    "case, pool table, pillow, screen door, stairway, river, bridge, bookcase, blind, coffee table, toilet, flower, "
    "book, hill, bench, countertop, stove, palm, kitchen island, computer, swivel chair, boat, bar, arcade machine, "
    "hovel, bus, towel, light, truck, tower, chandelier, awning, streetlight, booth, television receiver, airplane, "
    "dirt track, apparel, pole, land, bannister, escalator, ottoman, bottle, buffet, poster, stage, van, ship, "
    "fountain, conveyer belt, canopy, washer, plaything, swimming pool, stool, barrel, basket, waterfall, tent, bag, "
    "minibike, cradle, oven, ball, food, step, tank, trade name, microwave, pot, animal, bicycle, lake, dishwasher, "
    "screen, blanket, sculpture, hood, sconce, vase, traffic light, tray, ashcan, fan, pier, crt screen, plate, "
    "monitor, bulletin board, shower, radiator, glass, clock, flag"
)
NAMES = tuple(_NAMES.split(", "))


@datasets.register("ade20k")
@settings
class Ade20k(Files):
    """ADE20K: 150 classes of scenes indoors and out; the root holds images and annotations."""

    split: str = "validation"  # a folder in both
    other: bool = False  # count label 0, all that is not annotated, as a class of its own

    @property
    def name(self) -> str:
        """What it is called."""
        return f"ade20k-{self.split}"

    @property
    def classes(self) -> tuple[str, ...]:
        """150 names, or 151 with the rest first."""
        return ("other", *NAMES) if self.other else NAMES

    @property
    def background(self) -> int | None:
        """The rest, where it is a class."""
        return 0 if self.other else None

    @property
    def void(self) -> str:
        """The rest, where it is no class."""
        return "none" if self.other else "0"

    def find(self) -> dict[str, Pair]:
        """Find every image of the split."""
        return pair_up(*(list_files(self.root / folder / self.split) for folder in ("images", "annotations")))

    def codes(self) -> Codes:
        """Read label 0 as the rest and 1 to 150 as the classes."""
        first = 0 if self.other else VOID
        return {label: label + first for label in range(len(NAMES) + 1)}


datasets.preset(
    "ade20k-150",
    Ade20k,
    "ADE20K at 512 x 512 pixels, what is not annotated left out",
    resize="centre-crop-512",
)
datasets.preset(
    "ade20k-151",
    Ade20k,
    "ADE20K at 512 x 512 pixels, what is not annotated a class, the protocol of SEA (arXiv:2306.12941)",
    resize="centre-crop-512",
    other=True,
)
