"""Arrays of any depth and any number of channels, from NPY, NPZ and TIFF files; a scale is never guessed."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float32, Int64
from numpy import ndarray

from ..core import BadImage

ARRAYS = (".npy", ".npz")
CHANNELS = Literal["first", "last"]


class Unsettled(BadImage):
    """An image that cannot be used without a setting; most likely none of its dataset can."""


class Encoding(NamedTuple):
    """What the file of an array does not say."""

    scale: float | None = None  # the value that is 1; 8-bit images have 255 whatever it is, floats in [0, 1] need none
    channels: CHANNELS | None = None  # where they stand; none = the shortest side, which must be one of the ends


PLAIN = Encoding()
LARGEST = 600_000_000  # bytes of a file, and of what it unpacks to


def load_array(path: Path, data: bytes, entry: str = "image") -> ndarray:
    """Load the array of an NPY file, or of an NPZ file the only one or that of this name."""
    try:
        _check_entries(path, data)
        array = np.load(io.BytesIO(data), allow_pickle=False)
        if not isinstance(array, ndarray):
            array = _pick(path, dict(array), entry)
    except BadImage:
        raise
    except Exception as error:  # the header is parsed as text, so broken files raise almost anything
        raise BadImage(f"{path} is damaged ({error}); expected an array written by numpy.save or savez") from error
    if not array.size:
        raise BadImage(f"{path}: expected one array with pixels, written by numpy.save")
    return array


def _check_entries(path: Path, data: bytes) -> None:
    """Refuse an archive that unpacks to more than files have."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > LARGEST:
        raise BadImage(f"{path} unpacks to {size:,} bytes; at most {LARGEST:,} are read")


def load_codes(path: Path, data: bytes) -> Int64[ndarray, "h w"]:
    """Load a mask: integers without channels."""
    codes = load_array(path, data, "mask")
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise BadImage(f"mask {path}: expected integers h w, found {codes.dtype} of shape {codes.shape}")
    return codes.astype(np.int64)


def load_tiff(path: Path, data: bytes) -> ndarray:
    """Load a TIFF file with all its channels, in one page or in one page each."""
    try:
        import tifffile
    except ImportError as error:
        raise Unsettled(
            f"{path}: a TIFF beyond 8-bit RGB needs tifffile; pip install 'segstress[tiff]', or save it as .npy"
        ) from error
    try:
        with tifffile.TiffFile(io.BytesIO(data)) as file:
            if file.series[0].nbytes > LARGEST:
                raise BadImage(f"{path} declares {file.series[0].nbytes:,} bytes; at most {LARGEST:,} are read")
            return np.asarray(file.series[0].asarray())
    except Exception as error:  # decoders raise almost anything on broken files
        if isinstance(error, BadImage):
            raise
        if "imagecodecs" in str(error):
            raise Unsettled(f"{path}: {error}; pip install imagecodecs, or save it as .npy") from error
        raise BadImage(f"{path} is damaged or no TIFF that can be read ({error}); fetch it again") from error


def scaled(path: Path, array: ndarray, encoding: Encoding) -> Float32[ndarray, "h w c"]:
    """Bring an array to [0, 1] and its channels to the end."""
    if not array.size:
        raise BadImage(f"{path}: expected pixels, found an array of shape {array.shape}")
    if array.ndim not in (2, 3):
        raise BadImage(f"{path}: expected an array h w c, found shape {array.shape}")
    if array.dtype.kind not in "iuf":
        raise BadImage(f"{path}: expected integers or floats, found {array.dtype}")
    image = array[..., None] if array.ndim == 2 else _channels_last(path, array, encoding.channels)
    scale = _scale(path, image, encoding.scale)
    pixels: Float32[ndarray, "h w c"] = (image / np.float64(scale)).astype(np.float32)
    if not (pixels.min() >= 0 and pixels.max() <= 1):
        raise BadImage(f"{path}: expected values from 0 to {scale:g}, found {array.min():g} to {array.max():g}")
    return pixels


def _scale(path: Path, image: ndarray, given: float | None) -> float:
    """Return the value that is 1: 8 bits have their own, floats in [0, 1] need none, all else must be told."""
    if image.dtype == np.uint8:
        return 255.0
    if given is not None:
        return given
    if image.dtype.kind != "f":
        raise Unsettled(
            f"{path}: expected 8 bits or a scale, found {image.dtype}; "
            "give scale=, the value that stands for 1, such as scale=65535"
        )
    if not (image.min() >= 0 and image.max() <= 1):
        raise Unsettled(
            f"{path}: expected floats in [0, 1], found {image.min():g} to {image.max():g}; "
            "give scale=, the value that stands for 1"
        )
    return 1.0


def _channels_last(path: Path, array: ndarray, channels: CHANNELS | None) -> ndarray:
    first, middle, last = array.shape
    if channels is None and last < min(first, middle):
        channels = "last"
    elif channels is None and first < min(middle, last):
        channels = "first"
    if channels is None:
        raise Unsettled(
            f"{path}: cannot tell the channels of shape {array.shape}; give channels=first or channels=last"
        )
    return array if channels == "last" else array.transpose(1, 2, 0)


def _pick(path: Path, arrays: dict[str, ndarray], entry: str) -> ndarray:
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    if entry not in arrays:
        raise BadImage(f"{path}: expected one array or one called '{entry}', found {', '.join(arrays) or 'none'}")
    return arrays[entry]
