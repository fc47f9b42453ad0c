"""CPU time of indexing a tar pool, and of opening it again, beside bare `tarfile` iteration.

Command: python bench/tar_index.py [--members 100000] [--shards 10] [--packed]. Limit: indexing takes at most twice.
The rounds alternate; the medians of three are compared.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from segstress.data import datasets, tar_index

LIMIT = 2.0
ROUNDS = 3
OLD = 60.0  # seconds: younger shards are not remembered
BYTES = b"no image, only its bytes"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--members", type=int, default=100_000)
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--packed", action="store_true", help="shards are .tar.gz")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        shards = write(Path(place), given.members, given.shards, ".tar.gz" if given.packed else ".tar")
        times: dict[str, list[float]] = {"bare": [], "indexing": [], "opening again": []}
        for _ in range(ROUNDS):
            forget(shards)
            times["bare"].append(seconds(lambda: bare(shards)))
            times["indexing"].append(seconds(lambda: listed(Path(place), given.members)))
            tar_index._listed.cache_clear()  # as in another process
            times["opening again"].append(seconds(lambda: listed(Path(place), given.members)))
    median = {name: statistics.median(taken) for name, taken in times.items()}
    print(f"{given.members:,} members in {given.shards} shards; CPU time beside bare tarfile iteration")
    print(f"indexing       {median['indexing'] / median['bare']:5.2f} (limit {LIMIT:g})")
    print(f"opening again  {median['opening again'] / median['bare']:5.2f}")


def write(folder: Path, members: int, shards: int, ending: str) -> list[Path]:
    """Make shards of members with the names of images."""
    paths = [folder / f"{number:05}{ending}" for number in range(shards)]
    for number, path in enumerate(paths):
        with tarfile.open(path, "w:gz" if ending.endswith("gz") else "w") as archive:
            for member in range(number, members, shards):
                info = tarfile.TarInfo(f"images/{member:09}.jpg")
                info.size = len(BYTES)
                archive.addfile(info, io.BytesIO(BYTES))
                archive.members.clear()
        os.utime(path, (time.time() - OLD,) * 2)
    return paths


def forget(shards: list[Path]) -> None:
    """Take away what is known of shards."""
    tar_index._listed.cache_clear()
    for shard in shards:
        shard.with_name(f"{shard.name}.index").unlink(missing_ok=True)


def bare(shards: list[Path]) -> None:
    """Go through all members, as `tarfile` does by itself."""
    for shard in shards:
        with tarfile.open(shard) as archive:
            for _ in archive:
                pass


def listed(folder: Path, members: int) -> None:
    """Open the pool and ask for its ids."""
    found = len(datasets.build({"kind": "tar", "root": str(folder)}).ids())
    if found != members:
        raise SystemExit(f"expected {members} images, found {found}")


def seconds(work: Callable[[], None]) -> float:
    """Return the CPU time of some work."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    main()
