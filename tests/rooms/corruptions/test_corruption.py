"""What every corruption keeps to, whatever it does."""

import json
from itertools import product

import pytest
import torch
from scipy.stats import poisson

from segstress.core import BadImage, BadInput, stream
from segstress.corruptions import alter, corruptions
from segstress.corruptions.corruption import LocalEffect
from segstress.corruptions.draws import Draws, poisson_at

NAMES = [name for name in corruptions.names() if name != "frost"]  # frost needs photographs
IDS = ("one", "two", "three")


def pictures(height=40, width=56, dtype=torch.float32):
    """Smooth images that touch 0 and 1."""
    coarse = torch.rand((len(IDS), 3, 5, 7), generator=stream(0, "pictures", "pixels"), dtype=dtype)
    smooth = torch.nn.functional.interpolate(coarse, (height, width), mode="bilinear")
    return (1.4 * smooth - 0.2).clamp(0, 1)


def altered(name, images, severity, seed=0, ids=IDS, **options):
    return alter(corruptions.build(name), images, severity, ids=ids, seed=seed, **options)


@pytest.mark.parametrize("name", NAMES)
def test_stays_an_image(name):
    for severity in (1, 5):
        for dtype in (torch.float32, torch.float64):
            images = pictures(dtype=dtype)
            result = altered(name, images, severity).images
            assert result.shape == images.shape
            assert result.dtype == dtype
            assert torch.isfinite(result).all()
            assert result.min() >= 0
            assert result.max() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_alone_as_in_a_batch(name):
    images = pictures()
    together = altered(name, images, 3).images
    alone = altered(name, images[1:2], 3, ids=IDS[1:2]).images
    assert torch.allclose(alone[0], together[1], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_image_and_input_untouched(name):
    images = pictures()
    before = images.clone()
    one, two = (altered(name, images, 4, seed=7).images for _ in range(2))
    assert torch.equal(one, two)
    assert torch.equal(images, before)


RANDOM = [
    name
    for name in NAMES
    if name
    not in (
        *("brightness", "contrast", "defocus_blur", "gaussian_blur", "jpeg_compression"),
        *("pixelate", "saturate", "zoom_blur"),
    )
]


@pytest.mark.parametrize("name", RANDOM)
def test_seed_and_image_choose_the_draw(name):
    images = pictures(96, 96)[:1].expand(2, -1, -1, -1).contiguous()
    first = altered(name, images, 5, ids=IDS[:2]).images
    assert not torch.equal(first[0], first[1]), "two ids, one draw"
    assert not torch.equal(first, altered(name, images, 5, seed=1, ids=IDS[:2]).images), "two seeds, one draw"


LOCAL = [name for name in NAMES if isinstance(corruptions.build(name), LocalEffect)]
EVERYWHERE = [name for name in NAMES if name not in LOCAL]


@pytest.mark.parametrize("name", NAMES)
def test_severity_nought_is_identity(name):
    images = pictures()
    assert torch.equal(altered(name, images, 0).images, images)


@pytest.mark.parametrize("name", EVERYWHERE)
def test_fractions_lie_between(name):
    images = pictures()
    one, two = (altered(name, images, severity).images for severity in (1, 2))
    assert torch.allclose(altered(name, images, 0.5).images, (images + one) / 2, atol=1e-6)
    assert torch.allclose(altered(name, images, 1.25).images, 0.75 * one + 0.25 * two, atol=1e-6)


@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_curve_over_severities_has_no_jump(name):
    images = pictures()
    below, whole, above = (altered(name, images, severity).images for severity in (1.999, 2, 2.001))
    assert (whole - below).abs().max() < 0.002
    assert (above - whole).abs().max() < 0.002


def rms(name, images, severity):
    return float((altered(name, images, severity).images - images).square().mean().sqrt())


UNLIKE = {("spatter", 2), ("spatter", 3), ("snow", 2)}  # published patterns of other sizes or kinds: a blend weakens


@pytest.mark.parametrize(("name", "below"), sorted(set(product(RANDOM, range(1, 5))) - UNLIKE))
def test_halfway_is_not_milder_than_both_ends(name, below):
    images = pictures(96, 96)
    low, half, high = (rms(name, images, severity) for severity in (below, below + 0.5, below + 1))
    assert half >= min(low, high)


SHADES = torch.linspace(0.1, 1, 3)[:, None, None].expand(3, 200, 200)[None]
PHOTONS = (60, 25, 12, 5, 3)


def photons(severity):
    """What shot noise counts in each shade, before it is clipped to an image."""
    corruption, draws = corruptions.build("shot_noise"), Draws.of(("one",), 0, "test", SHADES.device)
    noisy = corruption.degrade(SHADES, corruption.level(severity), draws)
    return noisy[0].double().flatten(1) * PHOTONS[severity - 1]


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_shot_noise_counts_as_poisson_does(severity):
    for shade, counts in zip(SHADES[0, :, 0, 0].tolist(), photons(severity), strict=True):
        rate, samples = shade * PHOTONS[severity - 1], len(counts)
        assert torch.allclose(counts, counts.round(), atol=1e-4)
        assert float(counts.mean()) == pytest.approx(rate, abs=5 * (rate / samples) ** 0.5)
        assert float(counts.var()) == pytest.approx(rate, abs=5 * ((rate + 2 * rate**2) / samples) ** 0.5)


@pytest.mark.parametrize("below", [1, 2, 3, 4])
def test_shot_noise_of_neighbouring_severities_is_one_noise(below):
    for pair in zip(photons(below), photons(below + 1), strict=True):
        assert torch.corrcoef(torch.stack(pair))[0, 1] > 0.8


@pytest.mark.parametrize("rate", [0.0, 1e-6, 0.3, 5.0, 60.0, 699.0])
def test_counts_are_read_off_the_distribution_function(rate):
    chances = torch.tensor([2**-24, 0.001, 0.2, 0.5, 0.9, 1 - 2**-10, 1 - 2**-24])  # the last one below 1
    wanted = torch.from_numpy(poisson.ppf(chances.double().numpy(), rate))
    assert torch.equal(poisson_at(torch.full_like(chances, rate, dtype=torch.float64), chances).double(), wanted)


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("whole", [1, 2, 3, 4])
def test_neither_a_local_effect_nor_its_part_jumps_at_a_whole_severity(name, whole):
    images = pictures(192, 192)  # 144 blocks, and small steps of a drop's edge
    below, at, above = (altered(name, images, severity) for severity in (whole - 0.001, whole, whole + 0.001))
    for near in (below, above):
        assert ((near.images - at.images).abs() > 0.02).float().mean() < 0.005
        assert (near.touched != at.touched).float().mean() < 0.005


@pytest.mark.parametrize("name", LOCAL)
def test_between_two_whole_severities_a_local_effect_is_between_them(name):
    images = pictures(192, 192)
    shares = [float(altered(name, images, severity).touched.float().mean()) for severity in (2, 2.5, 3)]
    changes = [float((altered(name, images, severity).images - images).abs().mean()) for severity in (2, 2.5, 3)]
    assert shares == sorted(shares)
    assert changes == sorted(set(changes)), "nothing grew"


def test_heavier_rain_adds_drops_to_those_there_are():
    lighter, heavier = (altered("raindrops", pictures(96, 96), severity).touched for severity in (2, 3))
    assert not (lighter & ~heavier).any()
    assert heavier.sum() > lighter.sum()


@pytest.mark.parametrize("name", NAMES)
def test_five_is_worse_than_one(name):
    images = pictures(96, 96)
    pair = (3, 5) if name == "saturate" else (1, 5)  # its first two severities take colour away, the others add it
    mild, strong = (float((altered(name, images, severity).images - images).square().mean()) for severity in pair)
    assert 0 < mild < strong


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sides", [(1, 1), (3, 50), (17, 2)])
def test_small_images_do_not_fail(name, sides):
    images = pictures(*sides)
    for severity in (1, 3, 5):
        result = altered(name, images, severity).images
        assert result.shape == images.shape
        assert torch.isfinite(result).all()


@pytest.mark.parametrize("name", NAMES)
def test_is_data_and_says_what_it_is(name):
    corruption = corruptions.build(name)
    assert corruptions.build(json.loads(json.dumps(corruptions.spec(corruption)))) == corruption
    assert len(corruption.levels) == 5
    assert len(corruptions.about(name)) > 20


LOCAL = ["occlusion", "occlusion?fill=noise&shape=ellipse", "sun_glare", "lens_dirt", "raindrops", "shadow"]


@pytest.mark.parametrize("name", [*LOCAL, "occlusion?fill=blur", "lost_blocks"])
def test_local_effects_leave_the_rest_alone(name):
    images = pictures(96, 128)
    for severity in (1, 2.5):
        result = altered(name, images, severity)
        assert torch.equal(result.images.movedim(1, -1)[~result.touched], images.movedim(1, -1)[~result.touched]), (
            "pixels changed outside"
        )
        assert result.touched.flatten(1).any(1).all()
        assert not result.touched.flatten(1).all(1).any()


def test_occlusion_covers_the_published_share():
    share = altered("occlusion?shape=ellipse", pictures(200, 300), 4).touched.float().mean((1, 2))
    assert torch.allclose(share, torch.tensor(0.1), atol=0.003)


@pytest.mark.parametrize("name", ["gaussian_blur", "defocus_blur", "pixelate", "motion_blur"])
def test_reference_size_scales_lengths(name):
    small = pictures(64, 64)
    large = torch.nn.functional.interpolate(small, scale_factor=2.0, mode="bilinear")

    def damage(images, reference):
        change = altered(name, images, 3, reference_size=reference).images - images
        return float(change.square().mean().sqrt())

    assert damage(large, 64) == pytest.approx(damage(small, 64), rel=0.1)
    assert damage(large, None) < 0.8 * damage(small, None)


def test_bad_requests_are_named():
    with pytest.raises(BadInput, match="from 0 to 5, found 6"):
        altered("fog", pictures(), 6)
    with pytest.raises(BadInput, match="did you mean 'gaussian_noise'"):
        corruptions.build("gausian_noise")
    with pytest.raises(BadImage, match="repeat a grey channel"):
        altered("fog", pictures()[:, :1], 3)
    with pytest.raises(BadImage, match="uint8"):
        altered("fog", (pictures() * 255).byte(), 3)
    with pytest.raises(BadInput, match="use frost_procedural"):
        altered("frost?photographs=nowhere", pictures(), 3)


def test_frost_from_photographs(tmp_path):
    from PIL import Image

    Image.new("RGB", (30, 20), (255, 0, 0)).save(tmp_path / "red.png")
    images = pictures()
    frosted = altered(f"frost?photographs={tmp_path}", images, 1).images
    red = torch.tensor([1.0, 0.0, 0.0])[:, None, None]
    assert torch.allclose(frosted, (images + 0.4 * red).clamp(0, 1), atol=1e-6)
