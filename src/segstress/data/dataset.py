"""What every dataset offers: ids in a fixed order, one sample per id, class names and a hash of its content."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple

from ..core import BadImage, BadInput, Depth, Registry, Spec, digest, settings
from .palette import Colour, make_palette
from .resizing import Resize, ResizeSetting, resize
from .sample import Sample

__all__ = ["Dataset", "Sample", "datasets", "load", "readable"]

APART = ("root", "sbd", "show")  # settings that no result depends on: places, and what is only shown
LATER = (
    "scale",
    "channels",
    "member",
)  # settings that came later: where they are not given, earlier results still hold
READERS = 4  # threads that decode files
STRETCH = 256  # images of a stretch where nothing says which lie together


class Stretch(NamedTuple):
    """Images that are best read together."""

    name: str  # another one where the images are others
    images: int = 0  # 0 = not known before it is opened
    size: int = 0  # bytes, where the images are not counted


@settings
class Dataset(ABC):
    """Images under ids, with labels where they are known."""

    resize: ResizeSetting = Resize()  # the size at which models see the images; `read` leaves them native

    @abstractmethod
    def ids(self) -> list[str]:
        """Return the id of every image, always in the same order."""

    @abstractmethod
    def read(self, id: str) -> Sample:
        """Read one image at its native size; BadImage where it cannot be used."""

    @abstractmethod
    def contents(self) -> Any:
        """Return plain data that changes when the images or masks do."""

    def stretches(self) -> Iterator[tuple[str, ...]]:
        """Yield all ids, those together that are best read together, in the order of reading."""
        ids = self.ids()
        yield from (tuple(ids[first : first + STRETCH]) for first in range(0, len(ids), STRETCH))

    def outline(self) -> Iterator[Stretch]:
        """Yield the stretches, in the order of reading, by what is known of them before any is opened."""
        for first, ids in zip(count(0, STRETCH), self.stretches(), strict=False):
            yield Stretch(f"{first}-{digest(list(ids))}", len(ids))

    def stretch(self, name: str) -> tuple[str, ...]:
        """Return the ids of one of them."""
        first = int(name.partition("-")[0])
        return tuple(self.ids()[first : first + STRETCH])

    @property
    def readers(self) -> int:
        """Return how many threads may read it at once."""
        return 1

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called, without its resize rule."""

    @property
    @abstractmethod
    def classes(self) -> tuple[str, ...]:
        """The name of every class, in the order of the labels."""

    @property
    @abstractmethod
    def void(self) -> str:
        """How void is marked in its masks, such as `255`; `none` where every pixel counts."""

    @property
    def background(self) -> int | None:
        """The class that is no object, where there is one."""
        return None

    @property
    def depth(self) -> Depth:
        """How finely its files store pixels."""
        return Depth()

    @property
    def show(self) -> tuple[int, ...]:
        """The channels that pictures show, counted from 1; none = the first three."""
        return ()

    @property
    def palette(self) -> tuple[Colour, ...]:
        """A colour for every class."""
        return make_palette(len(self.classes), self.background)

    @property
    def label(self) -> str:
        """Its name in tables and folders."""
        return self.name if self.resize.rule == "none" else f"{self.name}-{self.resize}"

    def __len__(self) -> int:
        """Count the images."""
        return len(self.ids())

    def __getitem__(self, index: int) -> Sample:
        """Read the image at an index, at its native size."""
        return self.read(self.ids()[index])

    def __iter__(self) -> Iterator[Sample]:
        """Read every image in order; BadImage where one cannot be used."""
        return map(self.read, self.ids())

    def __bool__(self) -> bool:
        """Say that a dataset is there, even if it is empty."""
        return True

    def files(self) -> dict[str, str]:
        """Return the hash of every file by its name below the root, where the images lie in files."""
        return {}

    def fingerprint(self) -> str:
        """Return a hash of the images, masks and rules; not of the place where they lie, nor of how they are shown."""
        rules = {key: value for key, value in datasets.spec(self).items() if key not in APART}
        rules = {key: value for key, value in rules.items() if value is not None or key not in LATER}
        return digest([rules, self.contents()])

    def check(self) -> None:
        """Refuse what cannot be used at all."""
        if not any(self.stretches()):  # not all ids, which may be more than one likes to hold
            raise BadInput(f"dataset {self.name} is empty; expected at least one image")


datasets: Registry[Dataset] = Registry("dataset")


def load(spec: Spec) -> Dataset:
    """Build the dataset of a spec and check it: its folder exists and is not empty."""
    dataset = datasets.build(spec)
    dataset.check()
    return dataset


def readable(data: Dataset, ids: Iterable[str]) -> Iterator[Sample]:
    """Read the samples that can be read, as models see them; the others are passed over."""
    for id_ in ids:
        try:
            yield resize(data.read(id_), data.resize)
        except BadImage:
            continue
