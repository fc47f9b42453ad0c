"""From files to pixels: images as floats in [0, 1] with a note on every conversion, masks as integer codes.

Photographs become RGB. Arrays, and TIFF files that are no 8-bit photographs, keep the channels that they have.

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
from ..core.quantities import MOST_PIXELS
from .arrays import ARRAYS, LARGEST, PLAIN, Encoding, Unsettled, load_array, load_codes, load_tiff, scaled

TIFF = (".tif", ".tiff")
SUFFIXES = (".png", ".jpg", ".jpeg", *TIFF, ".bmp", ".webp", *ARRAYS)
FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")
ORIENTATION = 0x0112  # the EXIF tag; 1 = as stored
SAMPLES = 0x0115  # the TIFF tag: channels in the file

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


def read_image(path: Path, encoding: Encoding = PLAIN) -> Picture:
    """Read an image file: photographs as RGB, arrays with channels of their own."""
    return decode_image(path, _read_bytes(path), encoding)


def decode_image(path: Path, data: bytes, encoding: Encoding = PLAIN) -> Picture:
    """Do the same from the bytes of a file that lies elsewhere, such as inside an archive."""
    array, notes = _decode_pixels(path, data, encoding)
    pixels = torch.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))
    return Picture(pixels, hashlib.sha256(data).hexdigest(), notes)


def read_mask(path: Path, colours: bool = False) -> Int64[ndarray, "h w"]:
    """Read the code of every pixel: its id, or its colour as 0xRRGGBB."""
    data = _read_bytes(path)
    if path.suffix.lower() in ARRAYS:
        return load_codes(path, data)
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
        if path.exists() and not path.is_file():
            raise BadImage(f"{path} is no regular file; expected an image or a mask")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise BadImage(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise BadImage(f"{path} is larger than {LARGEST:,} bytes, the most that is read of a file")
    if not data:
        raise BadImage(f"{path} is empty (0 bytes); fetch it again")
    return data


def _decode(path: Path, data: bytes) -> Decoded:
    """Decode the first frame wholly."""
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        if image.width * image.height > MOST_PIXELS:
            raise BadImage(f"{path} declares {image.height} x {image.width} pixels; at most {MOST_PIXELS:,} are read")
        deep = ";16" in str(image.tile)
        image.load()
        return Decoded(image, deep, turned=image.getexif().get(ORIENTATION, 1) != 1)
    except BadImage:
        raise
    except UnidentifiedImageError as error:
        raise BadImage(f"{path} is no image that can be read; expected {', '.join(FORMATS)} or .npy") from error
    except Exception as error:  # decoders raise almost anything on broken files
        raise BadImage(f"{path} is damaged ({error}); fetch it again") from error


def _decode_pixels(path: Path, data: bytes, encoding: Encoding) -> tuple[Float32[ndarray, "h w c"], tuple[str, ...]]:
    suffix = path.suffix.lower()
    if suffix in ARRAYS:
        return scaled(path, load_array(path, data), encoding), ()
    if suffix in TIFF and not _is_photograph(data):
        return scaled(path, load_tiff(path, data), encoding), ()
    return _to_rgb(path, data, encoding)


def _is_photograph(data: bytes) -> bool:
    """Tell whether a TIFF file is one picture of 8 bits of which Pillow keeps every channel."""
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Exception:  # noqa: BLE001 - Pillow knows few of the ways to store pixels, and raises almost anything
        return False
    plain = image.mode in _MODES and ";16" not in str(image.tile) and getattr(image, "n_frames", 1) == 1
    return plain and getattr(image, "tag_v2", {}).get(SAMPLES, 1) == len(image.getbands())


def _to_rgb(path: Path, data: bytes, encoding: Encoding) -> tuple[Float32[ndarray, "h w c"], tuple[str, ...]]:
    image, deep, turned = _decode(path, data)
    notes = ["EXIF orientation not applied, pixels read as stored"] if turned else []
    if deep and image.mode in _DEEP_GREY:
        grey = scaled(path, np.asarray(image), encoding)
        return np.repeat(grey, 3, axis=2), (*notes, f"16-bit greyscale read as RGB, divided by {encoding.scale:g}")
    if deep:
        raise Unsettled(f"{path}: of colours with 16 bits only 8 can be read; save it as TIFF or .npy and give scale=")
    codes = np.asarray(_drop_alpha(path, image)).transpose(2, 0, 1)
    planes = np.empty(codes.shape, dtype=np.float32)  # as they are wanted in the end, so that none is copied
    np.divide(codes, np.float32(255), out=planes)
    if image.mode != "RGB":
        dropped = ", alpha dropped" if image.has_transparency_data else ""
        notes.append(f"{_MODES[image.mode]} read as RGB{dropped}")
    return planes.transpose(1, 2, 0), tuple(notes)


def _drop_alpha(path: Path, image: Image.Image) -> Image.Image:
    """Turn it to RGB; transparent pixels keep the colour that is stored under them."""
    if image.mode not in _MODES:
        raise BadImage(f"{path}: cannot tell colours from mode {image.mode}; save it as RGB or as .npy in [0, 1]")
    return (image.convert("RGBA") if image.has_transparency_data else image).convert("RGB")
