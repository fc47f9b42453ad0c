"""Networks that torch.export saved: their gradient, and the sizes that they take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from segstress import models
from segstress.core import BadInput

IMAGES = torch.rand(2, 3, 32, 48, generator=torch.Generator().manual_seed(0))


def network() -> nn.Module:
    """Seven classes."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.BatchNorm2d(5), nn.Dropout(), nn.Conv2d(5, 7, 1)).eval()


def export(path: Path, free: Any = None, images: torch.Tensor = IMAGES, net: nn.Module | None = None) -> str:
    """Save a network and return its spec."""
    program = torch.export.export(net or network(), (images,), dynamic_shapes=None if free is None else (free,))
    torch.export.save(program, path)
    return f"exported:{path}"


def test_a_free_graph_answers_as_its_network_with_its_gradient(tmp_path: Path) -> None:
    chosen = f"{export(tmp_path / 'mine.pt2', dict.fromkeys((0, 2, 3), Dim.AUTO))}?mean=0.5&std=0.25"
    segmenter, net = models.load(chosen), network()
    for images in (IMAGES, IMAGES[:1, :, :31, :17]):
        mine, theirs = images.clone().requires_grad_(), images.clone().requires_grad_()
        logits, expected = segmenter(mine), net((theirs - 0.5) / 0.25)
        torch.testing.assert_close(logits, expected)
        gradients = (torch.autograd.grad(out.square().sum(), to)[0] for out, to in ((logits, mine), (expected, theirs)))
        torch.testing.assert_close(*gradients)
    assert models.models.build(chosen).label == "mine"
    assert models.fingerprint(segmenter, chosen) == models.fingerprint(models.load(chosen), chosen)


def test_a_fixed_graph_says_the_sizes_that_it_takes(tmp_path: Path) -> None:
    chosen = export(tmp_path / "fixed.pt2", images=IMAGES[:1])
    segmenter = models.load(chosen)
    torch.testing.assert_close(segmenter(IMAGES), network()(IMAGES))  # one at a time
    with pytest.raises(BadInput, match=r"exported graph takes images of 32 x 48, found 32 x 47; .*window=32,48"):
        segmenter(IMAGES[..., :47])
    assert models.load(f"{chosen}?window=32,48")(torch.rand(1, 3, 40, 60)).shape == (1, 7, 40, 60)
    assert models.load(f"{export(tmp_path / 'two.pt2')}")(IMAGES).shape == (2, 7, 32, 48)
    with pytest.raises(BadInput, match="takes 2 images at a time, found 1; export it for 1"):
        models.load(f"exported:{tmp_path}/two.pt2")(IMAGES[:1])


def test_multiples_and_squares(tmp_path: Path) -> None:
    side = 8 * Dim("eighth", min=4, max=10)
    segmenter = models.load(export(tmp_path / "square.pt2", {0: Dim("b"), 2: side, 3: side}, IMAGES[..., :32]))
    assert segmenter(torch.rand(1, 3, 40, 40)).shape == (1, 7, 40, 40)
    for sides in ((36, 36), (40, 48), (88, 88)):
        with pytest.raises(BadInput, match=r"multiples of 8 from 32 to 80 x .*, as high as wide, found"):
            models.load(f"exported:{tmp_path}/square.pt2")(torch.rand(1, 3, *sides))


def test_before_the_run(tmp_path: Path, segstress: Any) -> None:
    chosen = export(tmp_path / "fixed.pt2", images=IMAGES[:1])
    how = ["--data", "shapes:test?count=2&size=64", "--attack", "pgd", "--eps", "8/255"]
    said = segstress("attack", "--model", chosen, *how, "--out", "run")
    assert said.code == 2
    assert "takes images of 32 x 48, found 64 x 64" in said.err
    assert not list((tmp_path / "run").rglob("*.parquet"))


def test_files_that_do_not_serve(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="exported in train mode"):
        models.load(export(tmp_path / "train.pt2", net=network().train()))
    torch.save(network().state_dict(), tmp_path / "weights.pt2")
    with pytest.raises(BadInput, match=r"is no torch\.export file"):
        models.load(f"exported:{tmp_path}/weights.pt2")
    with pytest.raises(BadInput, match="does not exist"):
        models.load("exported:absent.pt2")
