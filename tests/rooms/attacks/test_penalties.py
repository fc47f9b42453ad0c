"""The unit in which a pixel's distance is measured, against a plain sort."""

from __future__ import annotations

import pytest
import torch

from segstress.attacks.losses import View
from segstress.attacks.minimal.penalties import logit_ratio
from segstress.metrics.counts import predict


def view_of(classes: int, *, targeted: bool = False, seed: int = 0) -> View:
    """Random logits with ties, and void pixels."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randint(-4, 5, (2, classes, 9, 8), generator=generator).double()
    labels = torch.randint(0, classes, (2, 9, 8), generator=generator)
    aim = torch.rand(2, 9, 8, generator=generator) < 0.8
    return View(logits.requires_grad_(), labels, aim, torch.ones_like(aim).double(), progress=0.0, targeted=targeted)


@pytest.mark.parametrize("targeted", [False, True])
@pytest.mark.parametrize("classes", [3, 4, 11])
def test_a_distance_is_counted_in_leads_over_the_third_class(classes, targeted):
    view = view_of(classes, targeted=targeted)
    ordered = view.logits.detach().sort(dim=1, descending=True).values
    label = view.logits.detach().gather(1, view.labels[:, None])[:, 0]
    rival = torch.where(label == ordered[:, 0], ordered[:, 1], ordered[:, 0])
    unit = ordered[:, 0] - ordered[:, 2 : 4 if targeted else 3].mean(1)
    expected = (label - rival) / torch.where(unit > 0, unit, 1)
    assert torch.equal(logit_ratio(view).detach(), -expected if targeted else expected)


def test_the_unit_has_no_slope():
    view = view_of(5)
    (slope,) = torch.autograd.grad(logit_ratio(view).sum(), view.logits)
    assert torch.allclose(slope.sum(1), torch.zeros_like(slope[:, 0]))
    assert ((slope != 0).sum(1) == 2).all()  # the label's and its rival's


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_out_is_never_predicted(seed):
    view = view_of(6, seed=seed)
    second = predict(view.logits, without=(view.labels,))
    third = predict(view.logits, without=(view.labels, second))
    masked = view.logits.detach().scatter(1, view.labels[:, None], -torch.inf)
    assert torch.equal(second, masked.argmax(1))
    assert torch.equal(third, masked.scatter(1, second[:, None], -torch.inf).argmax(1))
