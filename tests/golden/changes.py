"""What every corruption makes of two made pictures, in a few numbers that no other change has."""

from __future__ import annotations

import torch

from segstress.core import stream
from segstress.corruptions import alter, corruptions

SEVERITIES = (1, 2, 3, 4, 5)
CHOICES = ("occlusion?fill=noise", "occlusion?fill=blur", "occlusion?shape=ellipse")  # settings besides the severity
Facts = dict[str, list[float]]


def names() -> list[str]:
    """Every corruption that needs no photographs, and what can be chosen of it."""
    return [*(name for name in corruptions.names() if name != "frost"), *CHOICES]


def facts(name: str) -> Facts:
    """For each severity: mean change, share touched, and projections of the change on three fixed directions."""
    torch.set_num_threads(1)
    coarse = torch.rand((2, 3, 6, 8), generator=stream(0, "golden", "pictures"))
    pictures = torch.nn.functional.interpolate(coarse, (48, 64), mode="bilinear")
    directions = torch.randn((3, *pictures.shape[1:]), generator=stream(0, "golden", "directions"))
    found = {}
    for severity in SEVERITIES:
        altered = alter(corruptions.build(name), pictures, severity, ids=("one", "two"), seed=3)
        change = altered.images - pictures
        seen = [change.abs().mean((1, 2, 3)), (change[:, None] * directions).mean((2, 3, 4)).flatten()]
        if altered.touched is not None:
            seen.append(altered.touched.float().mean((1, 2)))
        found[str(severity)] = [round(value, 7) for value in torch.cat(seen).tolist()]
    return found
