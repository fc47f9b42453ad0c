"""The loss by region: what each region weighs, and what a problem remembers of the pixels that an attack has won."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional

from segstress.attacks import View, losses
from segstress.attacks.losses import Past
from segstress.attacks.losses.region import REST
from segstress.attacks.search.problem import Problem
from segstress.core import Batch, Threat

NEVER, ONCE, FIRST, VOID = 0, 1, 2, 3


@pytest.fixture
def view():
    """Two images whose pixels lie in the regions drawn at random; the classes weigh 1 and 5."""
    generator = torch.Generator().manual_seed(0)
    regions = torch.randint(4, (2, 6, 7), generator=generator)
    labels = torch.randint(2, (2, 6, 7), generator=generator)
    logits = torch.randn(2, 2, 6, 7, generator=generator, dtype=torch.float64)
    past = Past(regions == FIRST, (regions == FIRST) | (regions == ONCE))
    weight = 1.0 + 4 * labels.double()
    return regions, View(logits, labels, regions != VOID, weight, 0.6, targeted=False, recall=lambda _: past)


@pytest.mark.parametrize("name", ["region", "region-balanced"])
def test_a_region_weighs_its_share_however_many_pixels_it_has(view, name):
    regions, view = view
    for progress, shares in ((0.0, (1, 0, REST)), (0.6, (0.7, 0.3, REST)), (1.0, (0.5, 0.5, REST))):
        now = replace(view, progress=progress)
        loss = torch.where(view.aim, losses.get(name)(now), 0)
        plain = functional.cross_entropy(view.logits, view.labels, reduction="none")
        for image in range(2):
            weight = view.balance[image] if name == "region-balanced" else torch.ones_like(plain[image])
            for region, share in zip((NEVER, ONCE, FIRST), shares, strict=True):
                inside = regions[image] == region
                mean = (weight * plain[image])[inside].sum() / weight[inside].sum()
                found = loss[image][inside].sum() / view.aim[image].sum()
                assert float(found) == pytest.approx(share * float(mean), rel=1e-9)


class Threshold(nn.Module):
    """Two classes: the second where a pixel is brighter than one half."""

    def forward(self, images):
        """Logits from the first channel."""
        return torch.stack([0.5 - images[:, 0], images[:, 0] - 0.5], 1)


def test_a_problem_remembers_what_was_won_at_the_first_and_at_any_look():
    images = torch.tensor([0.4, 0.4, 0.4, 0.6]).expand(2, 3, 1, 4).clone()
    images[1, :, :, :3] = 0.6  # the second image is wrong nearly everywhere
    labels = torch.zeros(2, 1, 4, dtype=torch.int64)
    batch = Batch(("a", "b"), images, labels, torch.ones_like(labels, dtype=torch.bool))
    problem, seen = Problem(Threshold().eval(), batch, Threat(radius=0.3)), []

    def watching(view):
        seen.append([each[0, 0].tolist() for each in view.past])
        return view.logits.sum(1) * 0

    steps = ([0.0, 0, 0, 0], [0.2, 0, 0, 0], [0, 0.2, 0, -0.2])
    for step in steps:
        problem.look(torch.tensor(step).expand(2, 3, 1, 4), watching)
    first, once = zip(*seen, strict=True)
    assert first == ([False, False, False, True],) * 3
    assert once == ([False, False, False, True], [True, False, False, True], [True, True, False, True])


def test_images_that_leave_do_not_mix_up_the_others():
    images = torch.tensor([0.4, 0.4]).expand(2, 3, 1, 2).clone()
    labels = torch.zeros(2, 1, 2, dtype=torch.int64)
    batch = Batch(("a", "b"), images, labels, torch.ones_like(labels, dtype=torch.bool))
    problem, seen = Problem(Threshold().eval(), batch, Threat(radius=0.3)), []

    def watching(view):
        seen.append(view.past.once[:, 0].tolist())
        return view.logits.sum(1) * 0

    for first, second in (((0.2, 0.2), (0.2, 0.0)), ((0.0, 0.0), (0.0, 0.0))):
        problem.look(torch.tensor([[first], [second]])[:, None].expand(2, 3, 1, 2), watching)
    assert seen == [[[True, True], [True, False]], [[True, False]]]  # the first image is finished, and gone
