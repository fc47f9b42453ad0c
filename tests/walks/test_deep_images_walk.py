"""A whole run on images of five 16-bit channels: attacked, reported, and pictured as asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

tifffile = pytest.importorskip("tifffile")

NETWORK = """
import torch
from torch import nn


def five(channels=5):
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(channels, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
"""


@pytest.fixture
def bands(tmp_path: Path) -> np.ndarray:
    """One image of 5 channels below `set`, with a mask."""
    random = np.random.default_rng(0)
    pixels = random.integers(0, 65536, (20, 16, 5), dtype=np.uint16)
    for name in ("images", "masks"):
        (tmp_path / "set" / name).mkdir(parents=True)
    tifffile.imwrite(tmp_path / "set/images/a.tif", pixels, photometric="minisblack", planarconfig="contig")
    Image.fromarray(random.integers(0, 3, (20, 16)).astype(np.uint8)).save(tmp_path / "set/masks/a.png")
    (tmp_path / "net.py").write_text(NETWORK)
    return pixels


def ask(segstress, settings: str, attack: str = "pgd?steps=2", model: str = "factory:net.py:five"):
    data = f"folder:set?classes=3&ignore=255{settings}"
    options = ("--attack", attack, "--eps", "8/255", "--workers", 1, "--out", "run")
    return segstress("attack", "--model", model, "--data", data, *options)


def test_five_channels_from_the_file_to_the_gallery(segstress, tmp_path: Path, bands: np.ndarray) -> None:
    said = ask(segstress, "&scale=65535&show=5,4,1")
    assert said.code == 0, said.err
    assert (tmp_path / "run/report/index.html").is_file()
    (picture,) = (tmp_path / "run/report/gallery").glob("*--a--image.png")
    assert np.array_equal(np.asarray(Image.open(picture)), np.round(bands[..., [4, 3, 0]] / 65535 * 255))


FINE = """
import torch
from torch import nn


class Fine(nn.Module):
    # class 1 where a pixel lies off the levels of 8 bits, else class 0

    def forward(self, images):
        off = (255 * images - (255 * images.detach()).round()).mean(1)
        never = torch.full_like(off, -1.0)
        return torch.stack([torch.full_like(off, 0.01), off.abs() + images.mean(1) / 1000, never], 1)


def fine():
    return Fine()
"""


def test_images_are_rounded_to_the_depth_of_their_source(segstress, tmp_path: Path, bands: np.ndarray) -> None:
    (tmp_path / "net.py").write_text(FINE)
    tifffile.imwrite(tmp_path / "set/images/a.tif", (bands[..., :3] // 257) * 257)  # levels of 8 bits in a 16-bit file
    Image.fromarray(np.zeros((20, 16), dtype=np.uint8)).save(tmp_path / "set/masks/a.png")
    said = ask(segstress, "&scale=65535", "pgd?steps=2&random_start=true", "factory:net.py:fine")
    assert said.code == 0, said.err
    assert "-bit images" not in said.err + said.out, "harm within 8 bits is no harm lost at 16"
    said = segstress("verify", "run")
    assert said.code == 0, said.err
    assert "at the depth of their source (16-bit)" in said.out
    attacked = next(line for line in said.out.splitlines() if "pgd" in line)
    exact, rounded = (float(cell) for cell in attacked.replace("│", "|").split("|")[4:6])
    assert max(exact, rounded) < 50, "at 8 bits every pixel would be right again"


def test_what_five_channels_cannot_have_is_one_line(segstress, tmp_path: Path, bands: np.ndarray) -> None:
    refused = {
        "give scale=, the value that stands for 1": ask(segstress, ""),
        "corruptions need images of 3 channels, those of set have 5": ask(segstress, "&scale=65535", "fog"),
        "takes images of 3 channels, the data has 5": ask(
            segstress, "&scale=65535", model="factory:net.py:five?arguments={channels: 3}"
        ),
    }
    for line, said in refused.items():
        assert said.code == 2
        assert line in said.err
        assert said.err.count("\n") == 1
    assert not list(tmp_path.glob("run/cells/*"))
