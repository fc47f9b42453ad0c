"""Corrupted images by themselves: as tensors for notebooks, as PNG files for everyone else."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn

from ..core import BadImage, BadInput, Batch, Spec
from ..core.files import write
from ..core.regions.region import Classes
from ..corruptions import SUITES, Corrupt, expand
from ..data import Dataset, stack
from ..planning.reading import checked

NOBODY = nn.Identity()  # corruptions do not look at the model


def corrupt(
    name: str,
    images: Float[Tensor, "b 3 h w"],
    severity: float = 3,
    *,
    seed: int = 0,
    ids: Sequence[str] | None = None,
    region: Spec | None = None,
) -> Float[Tensor, "b 3 h w"]:
    """Corrupt images in [0, 1]; draws depend on the seed and on each image's id (by default a hash of its content)."""
    if images.ndim != 4 or not images.is_floating_point():
        raise BadInput(f"images: expected floats (b, 3, h, w), found {images.dtype} {tuple(images.shape)}")
    if images.numel() and (images.min() < 0 or images.max() > 1):
        raise BadInput(
            f"images: expected values in [0, 1], found {float(images.min()):g} to {float(images.max()):g}; "
            "divide 8-bit images by 255"
        )
    if ids is not None and len(ids) != len(images):
        raise BadInput(f"ids: expected {len(images)}, one for each image, found {len(ids)}")
    if name in SUITES:
        raise BadInput(f"'{name}' is a suite; name one of its corruptions: {', '.join(SUITES[name])}")
    (change,) = corrupts([name], [severity], region=region)
    if isinstance(change.region, Classes):
        raise BadInput("region classes needs labels, and there are none; use patches, box, rectangle, boxes or masks")
    labels = torch.zeros(images.shape[:1] + images.shape[2:], dtype=torch.int64, device=images.device)
    batch = Batch(
        ids=tuple(ids) if ids is not None else tuple(_content(image) for image in images),
        images=images,
        labels=labels,
        valid=torch.zeros_like(labels, dtype=torch.bool),
    )
    return change.perturb(NOBODY, batch, seed).results[0].images


def _content(image: Float[Tensor, "c h w"]) -> str:
    return hashlib.sha256(image.detach().cpu().contiguous().numpy().tobytes()).hexdigest()[:16]


@dataclass(frozen=True)
class Exported:
    """A folder of corrupted images and what could not be corrupted."""

    manifest: Path
    images: int
    errors: tuple[str, ...]


def export(
    data: Dataset,
    ids: Sequence[str],
    changes: Sequence[Corrupt],
    folder: Path,
    seed: int = 0,
    advance: Callable[[int], None] = lambda images: None,
) -> Exported:
    """Write every image under every corruption at its native size, its region, and a manifest with hashes."""
    rows, errors = [], []
    for id_ in ids:
        try:
            rows += list(_export(data, id_, changes, folder, seed))
        except BadImage as error:
            errors.append(f"{id_}: {error}")
        advance(1)
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys() if rows else ["image"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write(folder / "manifest.csv", text.getvalue().encode())
    return Exported(folder / "manifest.csv", len(rows), tuple(errors))


def _export(
    data: Dataset, id_: str, changes: Sequence[Corrupt], folder: Path, seed: int
) -> Iterator[dict[str, str | int | float]]:
    sample = data.read(id_)
    batch = stack([sample])
    for change in changes:
        done = change.perturb(NOBODY, batch, seed)
        name = f"{change.label.replace(' ', '-').replace('/', '-')}/{id_}.png"
        pixels = done.results[0].images[0].mul(255).round().byte().permute(1, 2, 0).numpy()
        row: dict[str, Any] = {
            "image": id_,
            "corruption": change.label,
            "severity": change.severity,
            "seed": seed,
            "source_sha256": sample.source,
            "file": f"images/{name}",
            "sha256": _save(pixels, folder / "images" / name),
            "region": "",
            "region_share": 1.0,
        }
        if "inside" in done.zones:
            inside = done.zones["inside"][0].numpy()
            _save((255 * inside).astype(np.uint8), folder / "regions" / name)
            row |= {"region": f"regions/{name}", "region_share": round(float(inside.mean()), 6)}
        yield row


def _save(pixels: np.ndarray, path: Path) -> str:
    """Write a PNG; its hash."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    write(path, file.getvalue())
    return hashlib.sha256(file.getvalue()).hexdigest()


def corrupts(names: Sequence[str], severities: Sequence[float], **options: Any) -> list[Corrupt]:
    """Return every corruption (suites are expanded) at every severity, with the same region and rules."""
    return [
        checked(Corrupt, {"corruption": name, "severity": severity, **options}, "corruption")
        for name in expand(names)
        for severity in severities
    ]
