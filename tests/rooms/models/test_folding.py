"""Folded BatchNorm: only where nobody else uses the convolution, never without the model's own last word."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from segstress.models.folding import adjacent, fold
from segstress.models.interface import Interface
from segstress.models.segmenter import Segmenter


def worn(model: nn.Module) -> nn.Module:
    """In eval mode, with statistics and weights as training leaves them."""
    generator = torch.Generator().manual_seed(0)
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.copy_(torch.randn(layer.num_features, generator=generator))
            layer.running_var.copy_(0.5 + torch.rand(layer.num_features, generator=generator))
            with torch.no_grad():
                layer.weight.copy_(0.5 + torch.rand(layer.num_features, generator=generator))
                layer.bias.copy_(torch.randn(layer.num_features, generator=generator))
    return model.eval().requires_grad_(False)


class Branching(nn.Module):
    """Decides by the data, which no symbolic tracing can follow."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.last = nn.ConvTranspose2d(4, 5, 3, padding=1)
        self.last_norm = nn.BatchNorm2d(5)

    def forward(self, images):
        inner = self.norm(self.first(images))
        return self.last_norm(self.last(inner.relu() if images.mean() > 0.1 else inner))


class Sharing(nn.Module):
    """Uses a convolution's answer beside the BatchNorm too: visibly, or behind the back of the gradient."""

    def __init__(self, hidden):
        super().__init__()
        self.convolution, self.norm, self.hidden = nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), hidden

    def forward(self, images):
        inner = self.convolution(images)
        return self.norm(inner) + (inner.detach() if self.hidden else inner)


@pytest.fixture
def images():
    return torch.rand(2, 3, 12, 16, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("window", [None, (8, 8)])
def test_the_folded_twin_answers_as_the_model_does(images, window):
    model = Segmenter(worn(Branching()), Interface(mean=(0.5,), window=window)).requires_grad_(False).eval()
    found = fold(model, images)
    assert found.layers == 2
    assert not any(isinstance(layer, nn.BatchNorm2d) for layer in found.model.quick.modules())
    assert sum(isinstance(layer, nn.BatchNorm2d) for layer in model.modules()) == 2  # the original is left alone
    assert torch.allclose(found.model.quick(images), model(images), atol=1e-5)


def test_gradients_come_from_the_twin_and_verdicts_from_the_model(images):
    model = worn(Branching())
    twin = fold(model, images).model
    with torch.no_grad():
        twin.quick.last.bias += 1  # so that one can tell who speaks
    assert torch.equal(twin(images), model(images))
    assert torch.allclose(twin(images.clone().requires_grad_()), model(images) + 1, atol=1e-5)
    with torch.no_grad():
        assert torch.equal(twin(images.clone().requires_grad_()), model(images))


@pytest.mark.parametrize("hidden", [False, True])
def test_what_is_used_elsewhere_is_not_folded(images, hidden):
    model = worn(Sharing(hidden))
    found = fold(model, images)
    assert bool(adjacent(model, images)) == hidden  # the graph sees one use, comparing logits the other
    assert (found.apart > 1e-3) == hidden
    assert (found.layers, found.model) == (0, model)


def test_a_layer_that_follows_two_convolutions_stays(images):
    norm = nn.BatchNorm2d(3)
    model = worn(nn.Sequential(nn.Conv2d(3, 3, 1), norm, nn.Conv2d(3, 3, 1), norm))
    assert adjacent(model, images) == []


def test_a_shared_pair_is_folded_wherever_it_stands(images):
    block = nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3))
    found = fold(worn(nn.Sequential(block, nn.ReLU(), block)), images)
    assert found.layers == 1
    assert found.apart < 1e-4


@pytest.mark.parametrize("model", [nn.Conv2d(3, 4, 1), nn.Sequential(nn.Conv2d(3, 4, 1), nn.InstanceNorm2d(4))])
def test_nothing_to_fold_is_no_trouble(images, model):
    assert fold(model.eval(), images).layers == 0
