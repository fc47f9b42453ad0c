"""How many images are answered and written at a time, where nobody says it: as bytes and time allow.

Time is told by passes times pixels, and not measured: processes that share a run must cut it alike, and a run that
goes on elsewhere too. A core takes roughly a second for a million pixels of a pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from ..attacks.alone import by_parts
from ..core import perturbations
from ..data import datasets, readable
from ..runtime import Cell

WORK = 2**26  # passes times pixels: about a minute of a core, which is what a kill costs
BYTES = 2**26  # of a shard's kept images before they are compressed, which are held in memory
SHARDS, FEW = 64, 4  # into which a run is cut, so that many workers have something to do, unless so few are left
FLOAT = 4  # bytes of a pixel's channel


def images_per_shard(images: int, work: int, size: int) -> int:
    """Return how many images make a shard, where each takes so much work and so many bytes; at least one."""
    return max(1, min(WORK // max(work, 1), BYTES // max(size, 1), max(images // SHARDS, FEW)))


def images_per_unit(chain: Sequence[Cell], ids: Sequence[str], *, keep_images: bool) -> int:
    """Return the same for cells that are answered together, by the first of these images that can be read."""
    changes = [perturbations.build(cell.perturbation) for cell in chain]
    if any(map(by_parts, changes)):
        return 1  # its parts may be many
    channels, pixels = _size(json.dumps(dict(chain[0].data), sort_keys=True), tuple(ids))
    passes = sum(sum(change.passes()) + 1 for change in changes)  # one more by the referee
    return images_per_shard(len(ids), passes * pixels, FLOAT * channels * pixels if keep_images else 0)


@lru_cache(maxsize=4)
def _size(data: str, ids: tuple[str, ...]) -> tuple[int, int]:
    """Return channels and pixels of the first image that can be read; chains of one dataset ask for the same."""
    first = next(readable(datasets.build(json.loads(data)), ids), None)
    return (len(first.image), first.labels.numel()) if first else (1, 1)
