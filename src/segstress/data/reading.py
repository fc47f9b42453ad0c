"""From files to pixels: images as float RGB in [0, 1] with a note on every conversion, masks as integer codes.

The EXIF orientation of a photograph is not applied: masks are drawn on the pixels as they are stored, and the usual
training code reads them so. A note says where it was left out.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from numpy import ndarray
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from ..core import BadImage

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".npy")
FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")
ORIENTATION = 0x0112  # the EXIF tag; 1 = as stored

_DEEP_GREY = ("I", "I;16", "I;16B", "I;16L")  # Pillow's modes of one channel with more than 8 bits
_MODES = {
    "1": "black and white",
    "L": "greyscale",
    "LA": "greyscale",
    "P": "palette colours",
    "PA": "palette colours",
    "RGB": "RGB",
    "RGBA": "RGBA",
    "CMYK": "CMYK",
    "YCbCr": "YCbCr",
}


class Decoded(NamedTuple):
    """An image as Pillow sees it, and what decoding forgets."""

    image: Image.Image
    deep: bool  # 16 bits per channel in the file
    turned: bool  # the EXIF orientation asks for a turn


class Picture(NamedTuple):
    """The pixels of an image file and what is worth knowing about it."""

    pixels: Float[Tensor, "c h w"]
    source: str  # sha256 of the file
    notes: tuple[str, ...]


def read_image(path: Path) -> Picture:
    """An image file as RGB, or an array `h w c` with channels of its own."""
    return decode_image(path, _read_bytes(path))


def decode_image(path: Path, data: bytes) -> Picture:
    """The same from the bytes of a file that lies elsewhere, such as inside an archive."""
    array, notes = (scaled(path, _load_array(path, data)), ()) if path.suffix.lower() == ".npy" else _to_rgb(path, data)
    pixels = torch.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))
    return Picture(pixels, hashlib.sha256(data).hexdigest(), notes)


def read_mask(path: Path, colours: bool = False) -> Int64[ndarray, "h w"]:
    """The code of every pixel: its id, or its colour as 0xRRGGBB."""
    data = _read_bytes(path)
    if path.suffix.lower() == ".npy":
        codes = _load_array(path, data)
        if codes.ndim != 2 or codes.dtype.kind not in "iu":
            raise BadImage(f"mask {path}: expected integers h w, found {codes.dtype} of shape {codes.shape}")
        return codes.astype(np.int64)
    image = _decode(path, data).image
    if colours:
        channels = np.asarray(_drop_alpha(path, image), dtype=np.int64)
        packed: Int64[ndarray, "h w"] = channels @ (1 << 16, 1 << 8, 1)
        return packed
    if image.mode not in ("1", "L", "P", *_DEEP_GREY):
        raise BadImage(f"mask {path}: expected one channel of class ids, found {image.mode}; are its classes colours?")
    return np.asarray(image).astype(np.int64)


def _read_bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadImage(f"{path} cannot be read: {error.strerror}") from error
    if not data:
        raise BadImage(f"{path} is empty (0 bytes); fetch it again")
    return data


def _decode(path: Path, data: bytes) -> Decoded:
    """The first frame, wholly decoded."""
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        deep = ";16" in str(image.tile)
        image.load()
        return Decoded(image, deep, turned=image.getexif().get(ORIENTATION, 1) != 1)
    except UnidentifiedImageError as error:
        raise BadImage(f"{path} is no image that can be read; expected {', '.join(FORMATS)} or .npy") from error
    except Exception as error:  # decoders raise almost anything on broken files
        raise BadImage(f"{path} is damaged ({error}); fetch it again") from error


def _to_rgb(path: Path, data: bytes) -> tuple[Float32[ndarray, "h w c"], tuple[str, ...]]:
    image, deep, turned = _decode(path, data)
    notes = ["EXIF orientation not applied, pixels read as stored"] if turned else []
    if deep and image.mode in _DEEP_GREY:
        notes.append("16-bit greyscale read as RGB, scaled by 1/65535")
        grey = np.asarray(image).astype(np.float32) / 65535
        return np.repeat(grey[..., None], 3, axis=2), tuple(notes)
    array = np.asarray(_drop_alpha(path, image), dtype=np.float32) / 255
    if deep:
        notes.append("16-bit colour read with 8 bits; an .npy file keeps the rest")
    if image.mode != "RGB":
        dropped = ", alpha dropped" if image.has_transparency_data else ""
        notes.append(f"{_MODES[image.mode]} read as RGB{dropped}")
    return array, tuple(notes)


def _drop_alpha(path: Path, image: Image.Image) -> Image.Image:
    """As RGB; transparent pixels keep the colour that is stored under them."""
    if image.mode not in _MODES:
        raise BadImage(f"{path}: cannot tell colours from mode {image.mode}; save it as RGB or as .npy in [0, 1]")
    return (image.convert("RGBA") if image.has_transparency_data else image).convert("RGB")


def _load_array(path: Path, data: bytes) -> ndarray:
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # the header is parsed as text, so broken files raise almost anything
        raise BadImage(f"{path} is damaged ({error}); expected an array written by numpy.save") from error
    if not isinstance(array, ndarray) or array.size == 0:
        raise BadImage(f"{path}: expected one array with pixels, written by numpy.save")
    return array


def scaled(path: Path, array: ndarray) -> Float32[ndarray, "h w c"]:
    """An array as it was saved, brought to [0, 1] where its type says how; a scale is never guessed."""
    if array.ndim not in (2, 3):
        raise BadImage(f"{path}: expected an array h w c, found shape {array.shape}")
    if array.dtype == np.uint8:
        array = array.astype(np.float32) / 255
    elif array.dtype.kind != "f":
        raise BadImage(f"{path}: expected uint8 or floats in [0, 1], found {array.dtype}")
    elif not (array.min() >= 0 and array.max() <= 1):
        raise BadImage(f"{path}: expected floats in [0, 1], found {array.min():g} to {array.max():g}; rescale them")
    return array.astype(np.float32).reshape(*array.shape[:2], -1)
