"""Corruptions as perturbations: regions, zones, patches."""

import json

import pytest
import torch

from segstress.core import BadInput, Batch, perturbations, stream
from segstress.corruptions import SUITES, corruptions, expand


@pytest.fixture
def batch():
    images = torch.rand((2, 3, 48, 64), generator=stream(0, "batch", "pixels"))
    labels = torch.zeros((2, 48, 64), dtype=torch.int64)
    return Batch(("a", "b"), images, labels, torch.ones_like(labels, dtype=torch.bool))


def corrupt(batch, corruption="gaussian_noise", seed=0, **options):
    change = perturbations.build({"kind": "corrupt", "corruption": corruption, **options})
    return change.perturb(torch.nn.Identity(), batch, seed)


def test_outside_the_region_not_a_bit_changes(batch):
    done = corrupt(batch, region="patches:0.5?size=16")
    changed = (done.results[0].images != batch.images).any(1)
    assert not (changed & done.zones["outside"]).any()
    assert (changed & done.zones["inside"]).float().sum() > 0.99 * done.zones["inside"].sum()
    assert torch.equal(done.zones["inside"], ~done.zones["outside"])


def test_the_mask_depends_on_seed_and_image_only(batch):
    region = "patches:0.5?size=16"
    zones = [
        corrupt(batch, name, region=region, severity=severity).zones["inside"]
        for name, severity in (("fog", 1), ("snow", 5))
    ]
    assert torch.equal(*zones)
    assert not torch.equal(zones[0], corrupt(batch, region=region, seed=1).zones["inside"])
    assert not torch.equal(zones[0][0], zones[0][1])


def test_whole_image_blended_or_patch_by_patch(batch):
    region = "box:centre?height=16&width=16"
    whole, patch = (
        corrupt(batch, "contrast", region=region, apply=way).results[0].images for way in ("whole", "patches")
    )
    inside = (slice(None), slice(None), slice(16, 32), slice(24, 40))
    crop = batch.images[inside]
    assert torch.allclose(patch[inside], crop.mean((2, 3), keepdim=True) * 0.8 + crop * 0.2, atol=1e-6)
    assert torch.allclose(whole[inside], batch.images.mean((2, 3), keepdim=True) * 0.8 + crop * 0.2, atol=1e-6)


def test_patches_draw_for_themselves(batch):
    plain = Batch(batch.ids, torch.full_like(batch.images, 0.5), batch.labels, batch.valid)
    images = corrupt(plain, region="patches:1?size=16", apply="patches").results[0].images
    assert not torch.equal(images[0, :, :16, :16], images[0, :, :16, 16:32])


def test_patches_need_rectangles(batch):
    with pytest.raises(BadInput, match="needs a region made of rectangles"):
        corrupt(batch, region="classes:0", apply="patches")


def test_rings_around_the_region_fill_the_outside(batch):
    zones = corrupt(batch, region="box?height=8&width=8", distances=(4, 16)).zones
    rings = [zones[name].int() for name in ("distance-0-4", "distance-4-16", "distance-16-inf")]
    assert torch.equal(sum(rings), zones["outside"].int())
    rows, columns = torch.meshgrid(torch.arange(48), torch.arange(64), indexing="ij")
    away = torch.hypot(
        (20 - rows).clamp(min=0) + (rows - 27).clamp(min=0), (28 - columns).clamp(min=0) + (columns - 35).clamp(min=0.0)
    )
    assert torch.equal(zones["distance-4-16"][0], (away > 4) & (away <= 16))


def test_local_effects_bring_their_own_region(batch):
    done = corrupt(batch, "occlusion")
    changed = (done.results[0].images != batch.images).any(1)
    assert torch.equal(changed, done.zones["inside"])
    assert corrupt(batch, "fog").zones == {}
    assert corrupt(batch, "fog", severity=0).zones == {}
    assert not corrupt(batch, "occlusion", severity=0).zones["inside"].any()


def test_is_data_with_a_name_of_its_own():
    spec = {"kind": "corrupt", "corruption": "occlusion?fill=noise", "severity": 2.5, "region": "patches:0.3?size=32"}
    change = perturbations.build(spec)
    assert perturbations.build(json.loads(json.dumps(perturbations.spec(change)))) == change
    assert change.label == "occlusion(fill=noise) 2.5 in patches(ratio=0.3, size=32)"
    with pytest.raises(BadInput, match="severity"):
        perturbations.build({**spec, "severity": 5.5})


def test_suites():
    assert [len(SUITES[name]) for name in ("common15", "extra4", "cityscapes16")] == [15, 4, 16]
    assert all(name in corruptions.names() for members in SUITES.values() for name in members)
    assert expand(["noise", "fog", "shot_noise"]) == [*SUITES["noise"], "fog"]
    with pytest.raises(BadInput, match="did you mean 'fog'"):
        expand(["fogg"])
