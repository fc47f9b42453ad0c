"""Images that a Python user hands over as they are: a torch dataset, a list of pairs, tensors."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, ClassVar
from weakref import WeakValueDictionary

import torch
from pydantic import Field, field_validator, model_validator

from ..core import BadImage, BadInput, Depth, depth_of, digest, settings
from .dataset import Dataset, Sample, datasets
from .wrapped_items import Pixels, indexed, read_item

PROBED = 20  # images by which settings are judged


@dataclass(frozen=True, eq=False)
class Source:
    """The user's own data, and what a first look at all of it found."""

    items: Callable[[int], Any]
    numbers: Mapping[str, int]  # of every id
    codes: Mapping[str, Sequence[int]]  # that the mask of an id uses
    content: str


_lent: WeakValueDictionary[str, Source] = WeakValueDictionary()  # the data of this process, by their hash


@datasets.register("memory")
@settings
class Wrapped(Dataset):
    """Images of this Python process: what `segstress.data.wrap` makes of a torch dataset, pairs or tensors."""

    positional: ClassVar = "title"
    title: str = "memory"
    content: str = ""  # hash of images and masks
    classes: tuple[str, ...] = ()  # names, or how many there are; none = as many as the model gives
    ignore: tuple[int, ...] = ()  # void ids
    background: int | None = None  # the class that is no object
    scale: Annotated[float, Field(gt=0)] | None = None  # the value that is 1; needed by all but uint8 and [0, 1]

    @field_validator("classes", mode="before")
    @classmethod
    def _name_classes(cls, value: Any) -> Any:
        return [f"class {number}" for number in range(value)] if isinstance(value, int) else value

    @field_validator("ignore", mode="before")
    @classmethod
    def _list_ignored(cls, value: Any) -> Any:
        return (value,) if isinstance(value, int) else value

    @model_validator(mode="after")
    def _check(self) -> Wrapped:
        if self.background is not None and self.classes and not 0 <= self.background < len(self.classes):
            raise BadInput(f"background: expected a class below {len(self.classes)}, found {self.background}")
        return self

    @property
    def name(self) -> str:
        """Its title."""
        return self.title

    @property
    def void(self) -> str:
        """The ignored ids."""
        return ",".join(map(str, self.ignore)) or "none"

    @property
    def depth(self) -> Depth:
        """How finely its arrays store pixels, as their scale says."""
        return depth_of(self.scale)

    @cached_property
    def _source(self) -> Source:
        source = _lent.get(self.content)
        if source is None:
            raise BadInput(
                f"dataset memory:{self.title} lives in the Python process that evaluated it and is not here; "
                "hand the images over again with segstress.evaluate(model, data, out=...)"
            )
        return source

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to another process: the settings, never the images."""
        return {key: value for key, value in vars(self).items() if key != "_source"}

    def ids(self) -> list[str]:
        """Return hashes of the images, in the order of the data."""
        return list(self._source.numbers)

    def contents(self) -> str:
        """Return the hash of images and masks."""
        return self.content

    def read(self, id: str) -> Sample:
        """Read the image as it is now; BadImage where it is another than at first."""
        if id not in self._source.numbers:
            raise BadImage(f"{self.name} has no image '{id}'")
        pixels = read_item(self._source.items, self._source.numbers[id], self.scale)
        if not id.startswith(pixels.hash):
            raise BadImage("is another image each time it is read; switch random augmentation off")
        labels, valid = self._labels(pixels)
        return Sample(id=id, image=pixels.image, labels=labels, valid=valid, source=pixels.source, notes=pixels.notes)

    def _labels(self, pixels: Pixels) -> tuple[torch.Tensor, torch.Tensor]:
        """Return labels that are safe to gather, and where they mean something."""
        if pixels.mask is None:
            nothing = torch.zeros(pixels.image.shape[1:], dtype=torch.int64)
            return nothing, torch.zeros_like(nothing, dtype=torch.bool)
        valid = ~torch.isin(pixels.mask, torch.tensor(self.ignore, dtype=torch.int64))
        strange = self._strange(pixels.mask[valid].unique().tolist())
        if strange:
            raise BadImage(self._describe(strange[0]))
        return pixels.mask.masked_fill(~valid, 0), valid

    def _strange(self, codes: Iterable[int]) -> list[int]:
        """Return list codes that are neither a class nor ignored."""
        known = range(len(self.classes)) if self.classes else range(2**31)
        return [code for code in codes if code not in known and code not in self.ignore]

    def _describe(self, code: int) -> str:
        classes = f"one of the {len(self.classes)} classes" if self.classes else "a class"
        return f"label id {code} is neither {classes} nor ignored; name the void id with ignore=..."

    def check(self) -> None:
        """Refuse masks that speak of other classes; one strange mask is an error row."""
        super().check()
        probed = list(islice(self._source.codes.values(), PROBED))
        strange = Counter(code for codes in probed for code in self._strange(codes))
        for code, times in strange.most_common(1):
            if 2 * times > len(probed):
                raise BadInput(f"data: {self._describe(code)} (in {times} of the first {len(probed)} masks)")


def wrap(
    data: Any,
    *,
    classes: int | Sequence[str] | None = None,
    ignore: int | Sequence[int] | None = 255,
    background: int | None = None,
    scale: float | None = None,
    resize: str | None = None,
    title: str = "memory",
) -> Dataset:
    """Make a dataset of a torch dataset, pairs (image, mask) or two tensors; each item is read once, for its hash.

    `scale` is the value that stands for 1, such as 65535; uint8 has its own, floats in [0, 1] need none."""
    if isinstance(data, Dataset):
        return data
    if scale is not None and not scale > 0:
        raise BadInput(f"scale: expected the value that stands for 1, such as 65535, found {scale}")
    source = _look_through(*indexed(data), scale)
    _lent[source.content] = source
    void = () if ignore is None else ignore
    plain: dict[str, Any] = {"title": title, "content": source.content, "ignore": void, "background": background}
    plain |= {} if scale is None else {"scale": scale}
    plain |= {} if classes is None else {"classes": classes if isinstance(classes, int) else list(classes)}
    made = datasets.build({"kind": "memory", **plain, **({} if resize is None else {"resize": resize})})
    made.check()  # looks the source up, and so keeps it as long as the dataset lives
    return made


def _look_through(items: Callable[[int], Any], count: int, scale: float | None) -> Source:
    """Read every item once; what most of the first are refused for is refused for all."""
    if not count:
        raise BadInput("data: expected at least one image, found none")
    numbers: dict[str, int] = {}
    codes: dict[str, Sequence[int]] = {}
    masks: list[str] = []
    faults: list[str] = []
    for number in range(count):
        try:
            pixels = read_item(items, number, scale)
        except BadImage as error:
            faults += [str(error)] if number < PROBED else []
            numbers[f"item-{number:05d}"] = number
            masks.append("")
            continue
        id_ = pixels.hash if pixels.hash not in numbers else f"{pixels.hash}-{number}"  # the same image again
        numbers[id_] = number
        if pixels.mask is not None:
            codes[id_] = pixels.mask.unique().tolist()
        masks.append("" if pixels.mask is None else hashlib.sha256(pixels.mask.numpy().tobytes()).hexdigest())
    if 2 * len(faults) > min(count, PROBED):
        raise BadInput(f"data: {faults[0]}")
    first = next(iter(numbers))
    if not first.startswith("item-") and read_item(items, 0, scale).hash != first:
        raise BadInput("data: item 0 is another image each time it is read; switch random augmentation off")
    return Source(items, numbers, codes, f"data-{digest([list(numbers), masks], 16)}")
