"""Which shards of a cell count: every file is examined once, as long as it is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from . import shard_files
from .shard_tables import doubled


class ShardStates(NamedTuple):
    """What a cell's folder held when it was looked at, shards by their stems."""

    stems: list[str]  # those that count
    wrong: dict[str, str]  # with what is wrong with them
    replaced: set[str]  # left beside the larger ones to which they were joined


class Examiner:
    """Looks at the shards in folders of cells, and remembers what it saw."""

    def __init__(self) -> None:
        self._faults: dict[tuple[Path, str], str] = {}  # by folder and stem; empty = as it was written
        self._states: dict[Path, tuple[frozenset[Path], ShardStates]] = {}  # by folder, as long as its files are those

    def look(self, folder: Path) -> ShardStates:
        """Return the state of a cell's shards."""
        shards = shard_files.shard_files(folder)
        seen = frozenset(path for paths in shards.values() for path in paths)
        if folder not in self._states or self._states[folder][0] != seen:
            state = self._examine(folder, shards)
            if state.wrong:  # another process may be writing it, or write it anew under the same names
                return state
            self._states[folder] = seen, state
        return self._states[folder][1]

    def set_aside(self, folder: Path) -> list[str]:
        """Move away the shards with which something is wrong; say what is."""
        wrong = self.look(folder).wrong
        self.drop_replaced(folder)
        shards = shard_files.shard_files(folder)
        shard_files.set_aside(folder, [path for stem in wrong for path in shards.get(stem, ())])
        self.forget(folder, wrong)
        return list(wrong.values())

    def drop_replaced(self, folder: Path) -> None:
        """Delete the shards that were joined to larger ones, as far as a kill has left them."""
        replaced, shards = self.look(folder).replaced, shard_files.shard_files(folder)
        for stem in replaced:
            shard_files.remove(shards[stem])
        self.forget(folder, replaced)

    def forget(self, folder: Path, stems: Iterable[str]) -> None:
        """Look at shards anew next time, since their files were written or removed."""
        for stem in stems:
            self._faults.pop((folder, stem), None)
        self._states.pop(folder, None)

    def _examine(self, folder: Path, shards: Mapping[str, Sequence[Path]]) -> ShardStates:
        for stem, paths in shards.items():
            if self._faults.get((folder, stem), "unknown"):  # one that another process is writing may be whole now
                self._faults[folder, stem] = shard_files.examine(folder, stem, paths)
        whole = [stem for stem in sorted(shards) if not self._faults[folder, stem]]
        manifest = shard_files.read_manifest(folder)
        replaced = shard_files.replaced(folder, shards, whole, manifest[1] if manifest else ())
        wrong = {stem: fault for stem in shards if (fault := self._faults[folder, stem]) and stem not in replaced}
        whole = [stem for stem in whole if stem not in replaced]
        if manifest is not None:
            listed = {stem: sums for stem, sums in manifest[1].items() if stem not in wrong}
            wrong |= shard_files.compare(folder, listed, whole)
        wrong |= doubled(folder, [stem for stem in whole if stem not in wrong])
        return ShardStates([stem for stem in whole if stem not in wrong], wrong, replaced)
