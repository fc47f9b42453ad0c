"""The small networks: their sizes, their seeds, and the zoo."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from segstress import models
from segstress.core import BadInput
from segstress.models import compact
from segstress.models.compact import Compact

ARCHITECTURES = pytest.mark.parametrize("name", ["cnn", "transformer", "unet"])


@pytest.mark.parametrize(("name", "parameters"), [("cnn", 322_831), ("transformer", 459_564), ("unet", 371_767)])
def test_size(name: str, parameters: int) -> None:
    assert sum(parameter.numel() for parameter in Compact(name=name).network().parameters()) == parameters


@ARCHITECTURES
@pytest.mark.parametrize("size", [(16, 16), (33, 50), (96, 64)])
def test_any_size_and_channels(name: str, size: tuple[int, int]) -> None:
    segmenter = models.load(f"compact:{name}?classes=4&channels=2")
    assert segmenter(torch.rand(2, 2, *size)).shape == (2, 4, *size)


@pytest.mark.parametrize(("name", "first"), [("cnn", "to_half"), ("transformer", "stages.0"), ("unet", "down.0")])
def test_images_are_normalised_inside(name: str, first: str) -> None:
    network, seen = Compact(name=name).network(), []
    network.get_submodule(first).register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    network(torch.full((1, 3, 32, 32), 0.7))
    torch.testing.assert_close(seen, [torch.ones(1, 3, 32, 32)])


@ARCHITECTURES
def test_the_seed_decides_and_nothing_else_is_disturbed(name: str) -> None:
    state = torch.get_rng_state()
    first, again, other = (Compact(name=name, seed=seed).network().state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert any(not torch.equal(first[key], other[key]) for key in first)
    assert torch.equal(torch.get_rng_state(), state)


@ARCHITECTURES
def test_an_image_alone_and_in_a_batch(name: str) -> None:
    segmenter = models.load(f"compact:{name}").double()
    images = torch.rand(3, 3, 24, 20, dtype=torch.float64)
    alone = torch.cat([segmenter(image[None]) for image in images])
    torch.testing.assert_close(segmenter(images), alone, rtol=0, atol=1e-9)


@ARCHITECTURES
def test_every_pixel_and_parameter_gets_a_gradient(name: str) -> None:
    network = Compact(name=name).network()
    images = torch.rand(2, 3, 48, 48, requires_grad=True)
    network.heads(images)["main"].square().sum().backward()
    assert images.grad is not None
    assert (images.grad.abs().amax(1) > 0).all()
    assert all(parameter.grad is not None for parameter in network.parameters())


@ARCHITECTURES
def test_the_head_is_behind_the_features(name: str) -> None:
    network = Compact(name=name).network()
    head = {id(parameter) for parameter in network.head_parameters()}
    named = dict(network.named_parameters())
    assert id(named["classify.weight"]) in head
    assert id(next(iter(named.values()))) not in head
    assert head < {id(parameter) for parameter in named.values()}


def test_a_name_of_the_zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "ZOO", tmp_path)
    trained = Compact(name="transformer", classes=5, seed=4).network()
    models.save(trained, tmp_path / "mine.safetensors", {"architecture": "compact:transformer?classes=5"})
    images = torch.rand(1, 3, 32, 32)
    assert torch.equal(models.load("compact:mine")(images), trained.eval()(images))


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(BadInput, match="unknown compact model 'transfomer'; did you mean 'transformer'"):
        models.load("compact:transfomer")
