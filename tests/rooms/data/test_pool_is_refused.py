"""A pool of unlabelled images is a dataset like others, and an attack on it gets one clear line."""

from __future__ import annotations

import tarfile

from PIL import Image


def test_a_pool_cannot_be_attacked(segstress, tmp_path):
    Image.new("RGB", (16, 16), "grey").save(tmp_path / "a.png")
    with tarfile.open(tmp_path / "pool.tar", "w") as archive:
        archive.add(tmp_path / "a.png", "a.png")
    said = segstress(
        *("attack", "--model", "compact:cnn-normal", "--data", f"tar:{tmp_path / 'pool.tar'}"),
        *("--attack", "pgd", "--eps", "8/255"),
    )
    assert said.code == 2
    assert "a pool of unlabelled images for segstress mad; expected labelled images" in said.err
