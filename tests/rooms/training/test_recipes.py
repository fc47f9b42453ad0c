"""Recipes: who is attacked, when, and what the loss is summed over."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from segstress.core import BadInput, Batch
from segstress.training import recipes
from segstress.training.ddc import join_prediction
from segstress.training.recipes import perturbed_indices
from segstress.training.trainee import Trainee

from .networks import grouped


def make_batch(count: int = 4, side: int = 8) -> Batch:
    random = torch.Generator().manual_seed(1)
    return Batch(
        ids=tuple(map(str, range(count))),
        images=torch.rand(count, 3, side, side, generator=random),
        labels=torch.randint(0, 7, (count, side, side), generator=random),
        valid=torch.rand(count, side, side, generator=random) < 0.7,
    )


class Harm:
    """Turns images black and remembers whom."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def __call__(self, batch: Batch) -> Batch:
        self.ids += batch.ids
        return replace(batch, images=torch.zeros_like(batch.images))


@given(share=st.floats(0, 1), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_share_is_exact_however_batches_are_cut(share, sizes):
    first, cut = 0, []
    for size in sizes:
        cut += [first + index for index in perturbed_indices(size, first, share)]
        first += size
    assert cut == perturbed_indices(first, 0, share)
    assert abs(len(cut) - share * first) < 1


@pytest.mark.parametrize(("share", "attacked"), [(0.0, []), (0.5, ["1", "3"]), (1.0, ["0", "1", "2", "3"])])
def test_only_what_is_used_is_attacked(share, attacked):
    batch, harm, network = make_batch(), Harm(), Trainee(grouped())
    losses = recipes.build({"kind": "adversarial", "share": share}).loss(network, batch, 0, harm)
    assert harm.ids == attacked
    images = batch.images.clone()
    images[[int(id_) for id_ in attacked]] = 0
    heads = network.heads(images)
    expected = {
        name: functional.cross_entropy(logits, batch.labels.masked_fill(~batch.valid, -100), reduction="sum")
        for name, logits in heads.items()
    }
    torch.testing.assert_close(losses.valid, expected["main"] + 0.4 * expected["deep"])
    assert losses.hits == ((heads["main"].argmax(1) == batch.labels) & batch.valid).sum()


@pytest.mark.parametrize("name", ["normal", "pgd-at", "ddc-at"])
def test_void_labels_teach_nothing(name):
    recipe, batch = recipes.build(name), make_batch()
    network = recipe.trainee(grouped, 7)
    other = replace(batch, labels=torch.where(batch.valid, batch.labels, 3))
    first, second = (recipe.loss(network, seen, 0, Harm()) for seen in (batch, other))
    assert (first.valid, first.every, first.hits) == (second.valid, second.every, second.hits)


def test_published_settings():
    shares = {name: recipes.build(name).share for name in ("normal", "pgd-at", "segpgd-at", "ddc-at", "pir-at")}
    assert shares == {"normal": 0, "pgd-at": 0.5, "segpgd-at": 0.5, "ddc-at": 0.5, "pir-at": 1}


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_share_outside_its_range(share):
    with pytest.raises(BadInput, match=f"share: .* found {share}"):
        recipes.build(f"pgd-at?share={share}")


def test_unknown_recipe():
    with pytest.raises(BadInput, match="unknown recipe 'pdg-at'; did you mean 'pgd-at'"):
        recipes.build("pdg-at")


def test_ddc_begins_and_ends_as_the_network_that_it_is_given():
    trainee, images = recipes.build("ddc-at").trainee(grouped, 7), make_batch().images
    torch.testing.assert_close(trainee(images), grouped()(images))
    with torch.no_grad():
        for parameter in trainee.network.parameters():
            parameter.mul_(1.5)
    torch.testing.assert_close(trainee.result()(images), trainee(images))
    assert trainee.result().main.out_channels == 7


def test_ddc_teaches_the_mask_which_clean_pixels_are_fragile():
    recipe, batch, harm = recipes.build("ddc-at"), make_batch(), Harm()
    network = recipe.trainee(grouped, 7)
    losses = recipe.loss(network, batch, 0, harm)
    assert harm.ids == list(batch.ids)  # the clean half too: what it loses is what the mask must learn
    fragile = join_prediction(network, torch.zeros_like(batch.images)) != join_prediction(network, batch.images)
    fragile[[1, 3]] = False
    assert fragile.any()
    images = batch.images.clone()
    images[[1, 3]] = 0
    mask = network.heads(images)["mask"]
    torch.testing.assert_close(losses.every, functional.cross_entropy(mask, fragile.long(), reduction="sum"))


def test_ddc_supervises_early_features_too():
    recipe, batch = recipes.build("ddc-at?auxiliary=2"), make_batch()
    network = recipe.trainee(grouped, 7)
    recipe.loss(network, batch, 0, Harm()).valid.backward()
    gradient = network.network.deep.weight.grad
    assert gradient[:7].any()
    assert not gradient[7:].any()
    losses = [recipes.build(f"ddc-at?auxiliary={weight}").loss(network, batch, 0, Harm()).valid for weight in (0, 1, 2)]
    torch.testing.assert_close(losses[2] - losses[1], losses[1] - losses[0])


def test_ddc_sends_fragile_pixels_to_their_own_branch():
    recipe, batch = recipes.build("ddc-at"), make_batch()
    network = recipe.trainee(grouped, 7)
    with torch.no_grad():  # the mask points to the fragile branch everywhere
        network.network.main.weight[-2:] = 0
        network.network.main.bias[-2:] = torch.tensor([0.0, 1.0])
    recipe.loss(network, batch, 0, Harm()).valid.backward()
    gradient = network.network.main.weight.grad
    assert not gradient[:7].any()
    assert gradient[7:14].any()
    assert not gradient[14:].any()
