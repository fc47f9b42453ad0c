"""Image and mask files of every sort: converted with a note, or refused by name."""

from __future__ import annotations

import hashlib
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from segstress.core import BadImage
from segstress.data.arrays import Encoding, Unsettled
from segstress.data.reading import read_image, read_mask

GREY = np.arange(24, dtype=np.uint8).reshape(4, 6) * 10


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tif", ".webp"])
def test_lossless_formats_are_read_exactly(tmp_path: Path, photo: np.ndarray, suffix: str) -> None:
    path = tmp_path / f"photo{suffix}"
    Image.fromarray(photo).save(path, lossless=True)
    picture = read_image(path)
    assert torch.equal(picture.pixels, torch.from_numpy(photo).permute(2, 0, 1).float() / 255)
    assert picture.source == hashlib.sha256(path.read_bytes()).hexdigest()
    assert picture.notes == ()


def test_jpeg_is_read(tmp_path: Path, photo: np.ndarray) -> None:
    Image.fromarray(photo).save(tmp_path / "photo.jpg", quality=95)
    expected = torch.from_numpy(photo).permute(2, 0, 1) / 255
    assert (read_image(tmp_path / "photo.jpg").pixels - expected).abs().mean() < 0.05


@pytest.mark.parametrize(
    ("mode", "note"),
    [
        ("L", "greyscale read as RGB"),
        ("LA", "greyscale read as RGB, alpha dropped"),
        ("RGBA", "RGBA read as RGB, alpha dropped"),
        ("P", "palette colours read as RGB"),
        ("1", "black and white read as RGB"),
    ],
)
def test_other_modes_become_rgb_with_a_note(tmp_path: Path, mode: str, note: str) -> None:
    image = Image.fromarray(GREY).convert(mode)
    image.save(tmp_path / "image.png")
    picture = read_image(tmp_path / "image.png")
    assert picture.notes == (note,)
    expected = torch.from_numpy(np.array(image.convert("L"))) / 255
    assert torch.allclose(picture.pixels, expected.expand(3, 4, 6))


def test_cmyk_becomes_rgb_with_a_note(tmp_path: Path, photo: np.ndarray) -> None:
    Image.fromarray(photo).convert("CMYK").save(tmp_path / "image.tif")
    picture = read_image(tmp_path / "image.tif")
    assert picture.notes == ("CMYK read as RGB",)
    assert picture.pixels.shape == (3, 4, 6)


def test_alpha_is_dropped_not_blended(tmp_path: Path, photo: np.ndarray) -> None:
    clear = np.dstack([photo, np.zeros((4, 6), dtype=np.uint8)])
    Image.fromarray(clear).save(tmp_path / "image.png")
    assert torch.equal(read_image(tmp_path / "image.png").pixels, torch.from_numpy(photo).permute(2, 0, 1) / 255)


@pytest.mark.parametrize(("suffix", "channels"), [(".png", 3), (".tif", 1)])
def test_sixteen_bits_are_scaled_as_told(tmp_path: Path, suffix: str, channels: int) -> None:
    deep = np.array([[0, 1, 32768, 65535]], dtype=np.uint16)
    Image.fromarray(deep).save(tmp_path / f"deep{suffix}")
    picture = read_image(tmp_path / f"deep{suffix}", Encoding(scale=65535.0))
    expected = torch.tensor([0, 1, 32768, 65535]) / 65535
    assert torch.equal(picture.pixels, expected.expand(channels, 1, 4))
    assert picture.notes == (("16-bit greyscale read as RGB, divided by 65535",) if channels == 3 else ())
    with pytest.raises(Unsettled, match="found uint16; give scale="):
        read_image(tmp_path / f"deep{suffix}")


def test_sixteen_bit_colour_png_is_refused_rather_than_cut_to_eight(tmp_path: Path) -> None:
    path = tmp_path / "deep.png"
    path.write_bytes(deep_colour_png([[0x0000, 0x80FF, 0xFFFF]]))
    with pytest.raises(Unsettled, match=r"deep\.png: of colours with 16 bits only 8 can be read; save it as TIFF"):
        read_image(path)


def deep_colour_png(pixels: list[list[int]]) -> bytes:
    """One row of 16-bit RGB pixels, which Pillow cannot write."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", len(pixels), 1, 16, 2, 0, 0, 0)
    row = b"\0" + b"".join(struct.pack(">HHH", *pixel) for pixel in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")


def test_unknown_scale_is_refused(tmp_path: Path) -> None:
    Image.fromarray(np.full((2, 2), 3, dtype=np.float32)).save(tmp_path / "float.tif")
    with pytest.raises(BadImage, match=r"float\.tif: expected floats in \[0, 1\], found 3 to 3; give scale="):
        read_image(tmp_path / "float.tif")


def test_exif_orientation_is_left_alone_and_noted(tmp_path: Path, photo: np.ndarray) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(photo).save(tmp_path / "turned.png", exif=exif)
    picture = read_image(tmp_path / "turned.png")
    assert picture.pixels.shape == (3, 4, 6)
    assert picture.notes == ("EXIF orientation not applied, pixels read as stored",)


def test_broken_exif_is_a_broken_file(tmp_path: Path, photo: np.ndarray) -> None:
    Image.fromarray(photo).save(tmp_path / "image.webp", exif=b"no exif at all")
    with pytest.raises(BadImage, match=r"image\.webp is damaged"):
        read_image(tmp_path / "image.webp")


@pytest.mark.parametrize("array", [GREY, GREY / 255, np.dstack([GREY] * 3), (GREY / 255).astype(np.float16)])
def test_arrays_keep_their_channels(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "bands.npy", array)
    pixels = read_image(tmp_path / "bands.npy").pixels
    assert pixels.dtype == torch.float32
    assert pixels.shape == (1 if array.ndim == 2 else 3, 4, 6)
    assert torch.allclose(pixels[-1], torch.from_numpy(GREY / np.float32(255)), atol=1e-3)


@pytest.mark.parametrize(
    ("array", "fault"),
    [
        (GREY.astype(np.float32), "floats in .0, 1., found 0 to 230"),
        (GREY / 115 - 1, "found -1 to 1"),
        (np.array([[0.5, np.nan]]), "found nan"),
        (GREY.astype(np.uint16), "found uint16"),
        (np.zeros((2, 2, 2, 2), dtype=np.uint8), "h w c"),
        (np.zeros((0, 4, 3), dtype=np.uint8), "with pixels"),
    ],
)
def test_arrays_of_unknown_scale_or_shape_are_refused(tmp_path: Path, array: np.ndarray, fault: str) -> None:
    np.save(tmp_path / "bands.npy", array)
    with pytest.raises(BadImage, match=f"bands.npy: .*{fault}"):
        read_image(tmp_path / "bands.npy")


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".bmp", ".webp", ".npy"])
def test_truncated_file_is_refused_by_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cut{suffix}"
    large = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    np.save(path, large) if suffix == ".npy" else Image.fromarray(large).save(path)
    path.write_bytes(path.read_bytes()[:-1500])
    with pytest.raises(BadImage, match=f"cut{suffix} is"):
        read_image(path)


@pytest.mark.parametrize(
    ("content", "fault"), [(b"", "0 bytes"), (b"GIF89a no picture at all", "no image that can be read")]
)
def test_file_that_is_no_image_is_refused(tmp_path: Path, content: bytes, fault: str) -> None:
    path = tmp_path / "broken.png"
    path.write_bytes(content)
    for read in (read_image, read_mask):
        with pytest.raises(BadImage, match=rf"broken\.png .*{fault}"):
            read(path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadImage, match=r"gone\.png cannot be read"):
        read_image(tmp_path / "gone.png")


def test_masks_give_indices_not_colours(tmp_path: Path) -> None:
    codes = np.array([[0, 3, 255]], dtype=np.uint8)
    palette = Image.frombytes("P", (3, 1), codes.tobytes())
    palette.putpalette(list(range(255, -1, -1)) * 3)
    palette.save(tmp_path / "palette.png")
    Image.fromarray(codes).save(tmp_path / "grey.png")
    Image.fromarray(codes.astype(np.uint16) * 100).save(tmp_path / "deep.png")
    np.save(tmp_path / "array.npy", codes.astype(np.int16) - 1)
    assert read_mask(tmp_path / "palette.png").tolist() == [[0, 3, 255]]
    assert read_mask(tmp_path / "grey.png").tolist() == [[0, 3, 255]]
    assert read_mask(tmp_path / "deep.png").tolist() == [[0, 300, 25500]]
    assert read_mask(tmp_path / "array.npy").tolist() == [[-1, 2, 254]]


def test_colour_masks_give_colours(tmp_path: Path) -> None:
    colours = np.array([[(1, 2, 3), (255, 0, 128)]], dtype=np.uint8)
    Image.fromarray(colours).save(tmp_path / "rgb.png")
    Image.fromarray(colours).quantize(2).save(tmp_path / "palette.png")
    for name in ("rgb.png", "palette.png"):
        assert read_mask(tmp_path / name, colours=True).tolist() == [[0x010203, 0xFF0080]]


def test_mask_with_colours_where_ids_are_expected_is_refused(tmp_path: Path, photo: np.ndarray) -> None:
    Image.fromarray(photo).save(tmp_path / "mask.png")
    with pytest.raises(BadImage, match=r"mask\.png: expected one channel of class ids, found RGB"):
        read_mask(tmp_path / "mask.png")
    np.save(tmp_path / "mask.npy", GREY / 255)
    with pytest.raises(BadImage, match=r"mask\.npy: expected integers"):
        read_mask(tmp_path / "mask.npy")
