"""What every corruption must keep; `check_corruption` is public, for authors of plug-ins."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from ..core import Spec, stream
from ..corruptions import Corruption, alter, corruptions
from .settings import check_settings

IDS = ("one", "two")
STRENGTHS = (1.0, 2.5, 5.0)


def check_corruption(corruption: Corruption | Spec) -> None:
    """Run every check, one after the other; the first that fails raises AssertionError and says why."""
    built = corruption if isinstance(corruption, Corruption) else corruptions.build(corruption)
    for check in CORRUPTION_CHECKS:
        check(built)


def pictures(height: int = 40, width: int = 56) -> Float[Tensor, "2 3 h w"]:
    """Return two smooth images with some grain, which touch 0 and 1."""
    coarse, grain = (
        torch.stack([torch.rand((3, *sides), generator=stream(0, id_, f"picture-{sides}")) for id_ in IDS])
        for sides in ((5, 7), (height, width))
    )
    smooth = functional.interpolate(coarse, (height, width), mode="bilinear")
    return (1.5 * smooth + 0.2 * grain - 0.35).clamp(0, 1)


def check_corruption_is_data(corruption: Corruption) -> None:
    """Check that settings are data, and there are five strengths."""
    check_settings(corruptions, corruption)
    assert len(corruption.levels) == 5, f"{len(corruption.levels)} levels; five are published"
    assert len({len(level) for level in corruption.levels}) == 1, "levels of different lengths"


def check_stays_a_picture(corruption: Corruption) -> None:
    """Check that shape and type stay, values stay in [0, 1], and the images that came in are not touched."""
    images = pictures()
    before = images.clone()
    for severity in STRENGTHS:
        after = alter(corruption, images, severity, ids=IDS, seed=0).images
        assert (after.shape, after.dtype) == (images.shape, images.dtype), f"{after.dtype} {tuple(after.shape)}"
        assert after.isfinite().all(), f"values that are no numbers at {severity:g}"
        assert after.min() >= 0, f"values below 0 at {severity:g}"
        assert after.max() <= 1, f"values above 1 at {severity:g}"
        assert torch.equal(images, before), "it changed the images that it was given"


def check_begins_at_nothing(corruption: Corruption) -> None:
    """Check that severity 0 is the image itself, and severity 5 is not."""
    images = pictures()
    assert torch.equal(alter(corruption, images, 0, ids=IDS, seed=0).images, images), "severity 0 changes the image"
    strongest = alter(corruption, images, 5, ids=IDS, seed=0).images
    assert (strongest != images).flatten(1).any(1).all(), "severity 5 changes nothing"


def check_repeats_by_id(corruption: Corruption) -> None:
    """Check that the same seed and id give the same image, whatever its index and neighbours in a batch."""
    images = pictures()
    for severity in STRENGTHS:
        one, two = (alter(corruption, images, severity, ids=IDS, seed=3).images for _ in range(2))
        assert torch.equal(one, two), "two runs with one seed differ"
        for index, id_ in enumerate(IDS):
            alone = alter(corruption, images[index : index + 1], severity, ids=(id_,), seed=3).images[0]
            apart = float((alone - one[index]).abs().max())
            assert apart <= 1e-5, f"image {index} alone and in a batch differ by {apart}"


def check_tells_what_it_touched(corruption: Corruption) -> None:
    """Check that outside of what a local effect says it touched, not one bit changes."""
    images = pictures()
    for severity in STRENGTHS:
        altered = alter(corruption, images, severity, ids=IDS, seed=1)
        changed = (altered.images != images).any(1)
        touched = torch.ones_like(changed) if altered.touched is None else altered.touched
        assert touched.shape == changed.shape, f"a mask of {tuple(touched.shape)}"
        assert not (changed & ~touched).any(), "pixels changed that it does not tell of"


CORRUPTION_CHECKS = (
    check_corruption_is_data,
    check_stays_a_picture,
    check_begins_at_nothing,
    check_repeats_by_id,
    check_tells_what_it_touched,
)
