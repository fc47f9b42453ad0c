"""The third step of a competition: how much every pair of models agrees on every image."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..competition.discrepancy import BY_CLASS, concordances, pair_counts
from ..competition.vocabulary import Vocabulary
from ..core import import_source
from ..runtime import Progress, RunOptions, start_executor
from ..runtime.elsewhere import named_files
from ..runtime.sharing import Sharing
from .plan import Contest, Entrant
from .store import ContestStore, Part


@dataclass(frozen=True)
class CompareWork:
    """All pairs that are missing on one shard; travels to a worker."""

    folder: Path
    shard_size: int
    entrants: tuple[Entrant, ...]
    metric: str
    classes: int
    plugins: tuple[str, ...] = ()

    def __call__(self, part: Part) -> Part:
        """Write the agreements of each model with the earlier ones."""
        for plugin in self.plugins:
            import_source(plugin)
        store = ContestStore(self.folder, self.shard_size)
        rows = [row for row in range(1, len(self.entrants)) if not self._there(store, row, part)]
        maps = [store.maps(entrant, part) for entrant in self.entrants]
        directions = (2, self.classes) if self.metric in BY_CLASS else (2,)
        agreements = {row: np.full((len(part.images), row, *directions), np.nan) for row in rows}
        for index, image in enumerate(part.images):
            present = [model for model, by_image in enumerate(maps) if image in by_image]
            wanted = [present.index(row) for row in rows if row in present]
            if not wanted:
                continue
            counts = pair_counts(np.stack([maps[model][image] for model in present]), self.classes, wanted)
            scores = concordances.get(self.metric)(counts)
            for later in wanted:
                for earlier in range(later):
                    both = np.stack([scores[later, earlier], scores[earlier, later]])
                    agreements[present[later]][index, present[earlier]] = both
        for row in rows:
            store.write_pairs(self.entrants[row], part, self.metric, self.entrants[:row], agreements[row])
        return part

    def inputs(self, part: Part) -> list[Path]:
        """Return the files that one shard needs, for a worker that does not reach the folder."""
        store, kinds = ContestStore(self.folder, self.shard_size), ("maps", f"pairs-{self.metric}")
        paths = [store.part_file(entrant, kind, part) for entrant in self.entrants for kind in kinds]
        return [path for path in paths if path.exists()]

    def _there(self, store: ContestStore, row: int, part: Part) -> bool:
        return store.part_file(self.entrants[row], f"pairs-{self.metric}", part).exists()

    def missing(self, part: Part) -> bool:
        """Tell whether any pair of the shard is still to be compared."""
        store = ContestStore(self.folder, self.shard_size)
        return not all(self._there(store, row, part) for row in range(1, len(self.entrants)))


def compare(
    store: ContestStore,
    contest: Contest,
    entrants: list[Entrant],
    vocabulary: Vocabulary,
    progress: Progress,
    run_options: RunOptions,
    sharing: Sharing,
) -> None:
    """Compare every pair on every image."""
    classes, plugins = len(vocabulary.classes), tuple(contest.plugins)
    work = CompareWork(store.folder, store.shard_size, tuple(entrants), contest.metric, classes, plugins)

    def find() -> list[Part]:
        todo = [part for part in store.parts() if work.missing(part)]
        progress.begin(sum(len(part.images) for part in todo))
        return todo

    step, threads = f"compare-{contest.metric}", contest.numerics.threads
    executor = start_executor(run_options, threads, progress.warn, named_files([plugins]))
    for todo in sharing.rounds(step, find):
        for part in executor.map(work, todo):
            sharing.finish(step, part)
            progress.advance(len(part.images))
