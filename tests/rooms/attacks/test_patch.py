"""The adversarial patch."""

import itertools

import torch

from segstress.core import perturbations
from segstress.metrics.counts import predict
from segstress.testing.toys import toy_batch, toy_model

REGION = {"kind": "box", "height": 6, "width": 6}


def patched(keep="best", **settings):
    model = toy_model()
    batch = toy_batch(model)
    algorithm = {"kind": "patch", "steps": 30, **settings}
    spec = {"kind": "attack", "algorithm": algorithm, "threat": {"radius": 1}, "region": REGION, "keep": keep}
    return model, batch, perturbations.build(spec).perturb(model, batch, 0)


def right(model, batch, images):
    return int(((predict(model(images)) == batch.labels) & batch.valid).sum())


def test_any_picture_inside_and_not_a_bit_outside():
    model, batch, done = patched()
    images = done.results[0].images
    changed = (images != batch.images).any(1)
    assert not (changed & done.zones["outside"]).any()
    assert (images - batch.images).abs().max() > 0.5
    noise = torch.where(
        done.zones["inside"][:, None],
        torch.rand(images.shape, generator=torch.Generator().manual_seed(0)),
        batch.images,
    )
    assert right(model, batch, images) < right(model, batch, noise.double())


def test_views_make_it_sturdy_against_noise():
    def under_noise(views):
        model, batch, done = patched(keep="last", steps=60, views=views, grain=0.4)
        generator = torch.Generator().manual_seed(1)
        inside = done.zones["inside"][:, None]
        total = 0
        for _ in range(20):
            noise = 0.4 * torch.randn(batch.images.shape, generator=generator, dtype=torch.float64) * inside
            total += right(model, batch, (done.results[0].images + noise).clamp(0, 1))
        return total

    assert under_noise(4) < under_noise(0)


def test_shifted_views_make_it_sturdy_against_its_place():
    def moved(shift):
        model, batch, done = patched(keep="last", steps=60, views=8, light=0, grain=0, shift=shift)
        inside = done.zones["inside"][:, None]
        moves = itertools.product(range(-2, 3), repeat=2)  # every one that views of shift 2 draw from
        hung = [torch.where(inside, done.results[0].images.roll(move, (-2, -1)), batch.images) for move in moves]
        return sum(right(model, batch, images) for images in hung)

    assert moved(2) < moved(0)


def test_a_view_that_hangs_in_its_place_changes_nothing():
    still, plain = (patched(keep="last", views=views, light=0, grain=0)[2].results[0].images for views in (1, 0))
    assert torch.allclose(still, plain, atol=1e-9)
