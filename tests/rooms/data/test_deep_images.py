"""Images beyond 8-bit RGB: any depth and number of channels, from the file to the batch; nothing is guessed."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from segstress.core import BadImage, BadInput
from segstress.data import load
from segstress.data.arrays import Encoding, Unsettled
from segstress.data.reading import read_image, read_mask

tifffile = pytest.importorskip("tifffile")

BANDS = np.random.default_rng(0).integers(0, 65536, (16, 12, 5), dtype=np.uint16)
EXPECTED = torch.from_numpy((BANDS / 65535).astype(np.float32)).permute(2, 0, 1)


def save(path: Path, array: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npz":
        np.savez(path, array)
    elif path.suffix == ".npy":
        np.save(path, array)
    else:
        tifffile.imwrite(path, array, photometric="minisblack", planarconfig="contig" if array.shape[-1] == 5 else None)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two images of five 16-bit channels with masks."""
    for name in "ab":
        save(tmp_path / "images" / f"{name}.tif", BANDS)
        (tmp_path / "masks").mkdir(exist_ok=True)
        Image.fromarray(np.zeros((16, 12), dtype=np.uint8)).save(tmp_path / "masks" / f"{name}.png")
    return tmp_path


@pytest.mark.parametrize("suffix", [".tif", ".npy", ".npz"])
@pytest.mark.parametrize("first", [False, True])
def test_all_channels_are_read_wherever_they_stand(tmp_path: Path, suffix: str, first: bool) -> None:
    path = save(tmp_path / f"bands{suffix}", BANDS.transpose(2, 0, 1) if first else BANDS)
    assert torch.equal(read_image(path, Encoding(scale=65535.0)).pixels, EXPECTED)
    assert torch.equal(
        read_image(path, Encoding(scale=65535.0, channels="first" if first else "last")).pixels, EXPECTED
    )


def test_eight_bit_tiff_keeps_channels_that_pillow_drops(tmp_path: Path) -> None:
    bands = (BANDS[..., :4] // 256).astype(np.uint8)
    tifffile.imwrite(tmp_path / "near.tif", bands, photometric="rgb", extrasamples=["unspecified"])
    assert torch.equal(read_image(tmp_path / "near.tif").pixels, torch.from_numpy(bands).permute(2, 0, 1) / 255)


def test_the_given_scale_is_the_value_that_is_one(tmp_path: Path) -> None:
    path = save(tmp_path / "twelve.npy", BANDS // 16)
    assert torch.equal(
        read_image(path, Encoding(scale=4095.0)).pixels,
        torch.from_numpy((BANDS // 16 / 4095).astype(np.float32)).permute(2, 0, 1),
    )
    with pytest.raises(BadImage, match=r"twelve\.npy: expected values from 0 to 1000, found 0 to 4084"):
        read_image(path, Encoding(scale=1000.0))


def test_eight_bits_are_their_own_scale_beside_deeper_images(tmp_path: Path) -> None:
    path = save(tmp_path / "plain.npy", (BANDS // 256).astype(np.uint8))
    assert torch.equal(read_image(path, Encoding(scale=65535.0)).pixels, read_image(path).pixels)


def test_channels_that_cannot_be_told_are_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "cube.npy", np.zeros((5, 5, 5), dtype=np.uint8))
    with pytest.raises(Unsettled, match=r"cannot tell the channels of shape \(5, 5, 5\); give channels="):
        read_image(path)


def test_an_archive_of_image_and_mask_serves_as_both(tmp_path: Path) -> None:
    for name in "ab":
        np.savez(tmp_path / f"{name}.npz", image=BANDS, mask=np.ones((16, 12), dtype=np.uint8))
    data = load(f"folder:{tmp_path}?images=.&masks=.&classes=2&ignore=none&scale=65535")
    assert torch.equal(data[0].image, EXPECTED)
    assert (data[1].labels == 1).all()
    np.savez(tmp_path / "c.npz", first=BANDS, second=BANDS)
    with pytest.raises(BadImage, match=r"c\.npz: expected one array or one called 'mask', found first, second"):
        read_mask(tmp_path / "c.npz")


def test_a_folder_that_needs_a_scale_is_refused_before_the_run(folder: Path) -> None:
    with pytest.raises(BadInput, match=r"a\.tif: expected 8 bits or a scale, found uint16; give scale=") as caught:
        load(f"folder:{folder}?classes=1&ignore=none")
    assert not isinstance(caught.value, BadImage)
    assert load(f"folder:{folder}?classes=1&ignore=none&scale=65535")[1].image.shape == (5, 16, 12)


def test_a_tiff_without_tifffile_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tifffile", None)
    with pytest.raises(BadInput, match=r"needs tifffile; pip install 'segstress\[tiff\]'"):
        load(f"folder:{folder}?classes=1&ignore=none&scale=65535")


def test_a_compression_that_tifffile_cannot_undo_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("LZW requires the 'imagecodecs' package")

    Image.fromarray(BANDS[..., 0]).save(tmp_path / "packed.tif", compression="tiff_lzw")
    monkeypatch.setattr(tifffile, "TiffFile", refuse)
    with pytest.raises(Unsettled, match=r"packed\.tif: .*'imagecodecs' package; pip install imagecodecs, or save it"):
        read_image(tmp_path / "packed.tif", Encoding(scale=65535.0))


def test_channels_to_show_must_be_there(folder: Path) -> None:
    spec = f"folder:{folder}?classes=1&ignore=none&scale=65535"
    assert load(f"{spec}&show=5,4,2").show == (5, 4, 2)
    with pytest.raises(BadInput, match=r"show=6: the images of .* have 5 channels"):
        load(f"{spec}&show=6")
    with pytest.raises(BadInput, match="show: expected one channel or three"):
        load(f"{spec}&show=1,2")


def test_identity_follows_what_is_read_not_what_is_shown(folder: Path) -> None:
    spec = f"folder:{folder}?classes=1&ignore=none"
    plain, shown, scaled = (
        load(f"{spec}&scale=65535{rest}").fingerprint() for rest in ("", "&show=1", "&channels=last")
    )
    assert plain == shown != scaled


def test_pools_take_deep_images_too(tmp_path: Path) -> None:
    save(tmp_path / "bands.npy", BANDS)
    pq.write_table(pa.table({"path": ["bands.npy"]}), tmp_path / "list.parquet")
    with tarfile.open(tmp_path / "shard.tar", "w") as archive:
        data = io.BytesIO()
        np.save(data, BANDS)
        member = tarfile.TarInfo("bands.npy")
        member.size = len(data.getvalue())
        archive.addfile(member, io.BytesIO(data.getvalue()))
    for spec in (f"list:{tmp_path / 'list.parquet'}", f"tar:{tmp_path / 'shard.tar'}"):
        assert torch.equal(load(f"{spec}?scale=65535")[0].image, EXPECTED)
        with pytest.raises(BadInput, match="give scale="):
            load(spec)
