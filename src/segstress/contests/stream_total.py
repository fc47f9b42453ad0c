"""What is kept of a pool that is looked at once: candidates, histograms and counters, never anything per image."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..competition.select import ID_TYPE, Candidates
from ..competition.thresholds import PoolShares
from ..data.packed_arrays import pack, unpack

Row = dict[str, Any]
WORDS = ("rows", "counters", "done")  # what is no array


@dataclass
class StreamTotal:
    """The memory of a walk over a pool; totals of shards are joined in any order, and end the same."""

    candidates: Candidates
    shares: PoolShares
    rows: dict[str, Row] = field(default_factory=dict)  # what the index says of the candidates, by image
    counters: dict[str, int] = field(default_factory=dict)  # images looked at, unreadable, and failed by each model
    done: set[str] = field(default_factory=set)  # the shards that are in it

    def count(self, name: str, number: int = 1) -> None:
        """Add to a counter."""
        self.counters[name] = self.counters.get(name, 0) + number

    def join(self, other: StreamTotal) -> None:
        """Take in what was found elsewhere; of copies the first name counts."""
        self.candidates.join(other.candidates)
        self.shares.tally += other.shares.tally
        for name, number in other.counters.items():
            self.count(name, number)
        self.done |= other.done
        for image, row in other.rows.items():
            self.rows[image] = min(row, self.rows.get(image, row), key=lambda known: str(known["name"]))
        left = {image.decode() for image in np.unique(self.candidates.images) if image}
        self.rows = {image: row for image, row in self.rows.items() if image in left}

    def to_bytes(self) -> bytes:
        """Return all of it as one file."""
        words = {"rows": self.rows, "counters": self.counters, "done": sorted(self.done)}
        arrays = {name: np.frombuffer(json.dumps(words[name], sort_keys=True).encode(), np.uint8) for name in WORDS}
        return pack(
            arrays
            | {"images": np.frombuffer(self.candidates.images.tobytes(), np.uint8), "scores": self.candidates.scores}
            | {"class_shares": self.candidates.shares, "tally": self.shares.tally}
        )

    def load(self, data: bytes) -> StreamTotal:
        """Fill this one with what such a file holds."""
        arrays = unpack(data)
        self.candidates.scores, self.candidates.shares = arrays["scores"].copy(), arrays["class_shares"].copy()
        images: Any = np.frombuffer(arrays["images"].tobytes(), ID_TYPE)
        self.candidates.images = images.reshape(arrays["scores"].shape).copy()
        self.shares.tally = arrays["tally"].copy()
        words = {name: json.loads(arrays[name].tobytes()) for name in WORDS}
        self.rows, self.counters, self.done = words["rows"], words["counters"], set(words["done"])
        return self
