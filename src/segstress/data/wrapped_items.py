"""One item of a user's own data, whatever it is, as pixels in [0, 1] and class ids; a scale is never guessed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Int64, Shaped
from numpy import ndarray
from torch import Tensor

from ..core import BadImage, BadInput

IMAGE = ("image", "images", "img", "pixel_values")  # what the entries of a mapping are called
MASK = ("mask", "label", "labels", "segmentation", "target")


@dataclass(frozen=True)
class Pixels:
    """An image and its mask as they were handed over, in one form."""

    image: Float32[Tensor, "c h w"]  # in [0, 1]
    mask: Int64[Tensor, "h w"] | None  # ids as they are; none = unlabelled
    source: str  # sha256 of the image
    notes: tuple[str, ...]

    @property
    def hash(self) -> str:
        """The id of the image, as `segstress.attack` gives it too."""
        return self.source[:16]


def indexed(data: Any) -> tuple[Callable[[int], Any], int]:
    """Return a function that gives item after item, and how many there are."""
    if isinstance(data, torch.utils.data.DataLoader):
        raise BadInput("data: expected single images, found a DataLoader, which makes batches; give its .dataset")
    if isinstance(data, str | bytes | torch.nn.Module):
        raise BadInput(f"data: expected a dataset, pairs (image, mask) or two tensors, found {type(data).__name__}")
    if isinstance(data, tuple | list) and len(data) == 2 and all(_is_array(part) for part in data):
        images, masks = data
        if images.ndim == 4 and masks.ndim in (3, 4):
            if len(images) != len(masks):
                raise BadInput(f"data: expected as many masks as images, found {len(masks)} and {len(images)}")
            return lambda number: (images[number], masks[number]), len(images)
    if not (hasattr(data, "__getitem__") and hasattr(data, "__len__")):
        if not hasattr(data, "__iter__"):
            raise BadInput(f"data: expected a dataset, pairs (image, mask) or two tensors, found {type(data).__name__}")
        data = list(data)
    return data.__getitem__, len(data)


def read_item(items: Callable[[int], Any], number: int, scale: float | None = None) -> Pixels:
    """Read an item in one form; BadImage says what is wrong with it."""
    try:
        item = items(number)
    except Exception as error:  # the user's own code
        raise BadImage(f"item {number} cannot be read: {type(error).__name__}: {error}".splitlines()[0]) from error
    image, mask = _parts(item, number)
    labels = None if mask is None else _mask(_array(mask), number)
    sides = None if labels is None else labels.shape
    ordered, turned = _ordered(_array(image), isinstance(image, Tensor), sides, number)
    pixels, divided = _divided(ordered, scale, number)
    words = ", ".join(filter(None, (divided, turned)))
    notes = (f"image read as floats: {words}",) if words else ()
    source = hashlib.sha256(pixels.tobytes()).hexdigest()
    return Pixels(torch.from_numpy(pixels), None if labels is None else torch.from_numpy(labels), source, notes)


def _parts(item: Any, number: int) -> tuple[Any, Any]:
    """Take image and mask; more than two parts are passed over."""
    if isinstance(item, Mapping):
        entries = [next((item[key] for key in keys if key in item), None) for keys in (IMAGE, MASK)]
        if entries[0] is None:
            raise BadImage(f"item {number}: expected entries 'image' and 'mask', found {sorted(map(str, item))}")
        return entries[0], entries[1]
    if isinstance(item, Sequence) and not isinstance(item, str):
        return (item[0], item[1]) if len(item) > 1 else (item[0], None)
    return item, None


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor | ndarray)


def _array(value: Any) -> ndarray:
    """Turn tensors, arrays and Pillow's images into arrays."""
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        return (value.float() if value.dtype in (torch.float16, torch.bfloat16) else value).numpy()
    return np.asarray(value)


def _mask(array: ndarray, number: int) -> Int64[ndarray, "h w"]:
    flat = array[0] if array.ndim == 3 and len(array) == 1 else array
    if flat.ndim != 2 or flat.dtype.kind not in "iub":
        raise BadImage(
            f"item {number}: expected a mask of integers (h, w), found {array.dtype} {array.shape}; "
            "class ids must not be scaled or one-hot"
        )
    return np.ascontiguousarray(flat.astype(np.int64))


def _ordered(
    array: ndarray, tensor: bool, sides: tuple[int, ...] | None, number: int
) -> tuple[Shaped[ndarray, "c h w"], str]:
    """Bring channels to the front, with a word on it."""
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or not array.size:
        raise BadImage(f"item {number}: expected an image (c, h, w) or (h, w, c), found shape {array.shape}")
    last = _channels_last(array.shape, tensor, sides)
    if sides is not None and (array.shape[:2] if last else array.shape[1:]) != sides:
        raise BadImage(f"item {number}: image {array.shape} and mask {sides} are of different size")
    return (array.transpose(2, 0, 1), "(h, w, c) turned to (c, h, w)") if last else (array, "")


def _divided(array: ndarray, scale: float | None, number: int) -> tuple[Float32[ndarray, "c h w"], str]:
    """Bring values to [0, 1], with a word on it: 8 bits have a scale of their own, floats there need none."""
    if array.dtype.kind not in "iuf":
        raise BadImage(f"item {number}: expected integers or floats, found {array.dtype}")
    if array.dtype == np.uint8:
        scale = 255
    elif scale is None and array.dtype.kind != "f":
        raise BadImage(
            f"item {number}: expected uint8, floats in [0, 1] or a scale, found {array.dtype}; give the value that "
            "stands for 1, e.g. segstress.data.wrap(data, scale=65535)"
        )
    pixels = (array / np.float64(scale)).astype(np.float32) if scale is not None else array.astype(np.float32)
    if not (pixels.min() >= 0 and pixels.max() <= 1):
        expected = "floats in [0, 1]" if scale is None else f"values from 0 to {scale:g}"
        raise BadImage(
            f"item {number}: expected {expected}, found {array.min():g} to {array.max():g}; "
            "leave the scaling to [0, 1] and keep normalisation inside the model"
        )
    return np.ascontiguousarray(pixels), "" if scale is None else f"{array.dtype} divided by {scale:g}"


def _channels_last(shape: tuple[int, ...], tensor: bool, sides: tuple[int, ...] | None) -> bool:
    """Ask the mask; where it cannot tell, arrays have their channels last and tensors first."""
    first, last = sides in (None, shape[1:]), sides in (None, shape[:2])
    return not tensor if first == last else last
