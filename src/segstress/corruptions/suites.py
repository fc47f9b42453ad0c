"""Lists of corruptions that papers agree on."""

from __future__ import annotations

from collections.abc import Iterable

from ..core import BadInput
from .corruption import corruptions

NOISE = ("gaussian_noise", "shot_noise", "impulse_noise")
BLUR = ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur")
WEATHER = ("snow", "frost_procedural", "fog", "brightness")
DIGITAL = ("contrast", "elastic_transform", "pixelate", "jpeg_compression")

SUITES: dict[str, tuple[str, ...]] = {
    "noise": NOISE,
    "blur": BLUR,
    "weather": WEATHER,
    "digital": DIGITAL,
    "common15": NOISE + BLUR + WEATHER + DIGITAL,  # arXiv:1903.12261
    "extra4": ("speckle_noise", "gaussian_blur", "spatter", "saturate"),
    "cityscapes16": (  # Cityscapes-C as arXiv:2105.15203 uses it
        *("motion_blur", "defocus_blur", "glass_blur", "gaussian_blur"),
        *("gaussian_noise", "impulse_noise", "shot_noise", "speckle_noise"),
        *("brightness", "contrast", "saturate", "jpeg_compression"),
        *("snow", "spatter", "fog", "frost_procedural"),
    ),
    "local": ("occlusion", "sun_glare", "lens_dirt", "raindrops", "shadow", "lost_blocks"),
}


def expand(names: Iterable[str]) -> list[str]:
    """Return corruption specs, each once, with every suite replaced by its members."""
    members = [member for name in names for member in SUITES.get(name, (name,))]
    for spec in members:
        corruptions.get(spec.partition("?")[0])  # raises where the name is unknown
    if not members:
        raise BadInput(f"expected at least one corruption or suite; suites: {', '.join(SUITES)}")
    return list(dict.fromkeys(members))
