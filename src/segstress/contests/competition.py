"""A competition in its folder: index, predict, compare, select, judge, rank; each step resumes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..competition.discrepancy import concordances
from ..competition.ranking_report import RankingReport, ScoredBy
from ..competition.vocabulary import Vocabulary
from ..core import BadInput, digest, to_plain
from ..core.files import write
from ..runtime import Progress, RunOptions, record
from ..runtime.sharing import Sharing, share
from .compare import compare
from .images import ContestImages
from .index import index
from .plan import Contest, Entrant
from .predict import forget_errors, predict
from .rank import by_truth, by_votes
from .select import Selection, extend_bounds, find, read_members, select
from .store import ContestStore
from .stream import stream
from .stream_total import StreamTotal
from .stream_work import STREAM

RUN_OPTIONS = RunOptions()
APPROXIMATE = "among-candidates.txt"  # says how many images models saw that came after a stream


@dataclass(frozen=True)
class Competition:
    """A competition in its folder, ready for the next step."""

    folder: Path
    contest: Contest
    entrants: list[Entrant]
    vocabulary: Vocabulary

    @property
    def store(self) -> ContestStore:
        """Where its results rest."""
        return ContestStore(self.folder, self.contest.shard_size)

    @property
    def names(self) -> list[str]:
        """Of the models, in their order."""
        return [entrant.name for entrant in self.entrants]

    def index(self, progress: Progress, run_options: RunOptions = RUN_OPTIONS) -> pa.Table | None:
        """Take step 1: look at every image of the pool; nothing comes back where other parts have some left to do."""
        with self._shared(run_options) as sharing:
            with sharing.turn():
                sharing.join(self._question())
            table = index(self.folder, self.contest, progress, run_options, sharing)
            _tell_rest(sharing, progress)
            return table

    def predict(self, progress: Progress, run_options: RunOptions = RUN_OPTIONS) -> list[str]:
        """Take step 2: every model on every image; return what went wrong."""
        with self._shared(run_options) as sharing:
            with sharing.turn():
                record(self.folder, self.contest.numerics, allow_other=run_options.other_numerics)
                sharing.join(self._question())
                if run_options.retry_errors and sharing.first:
                    forget_errors(self.store, self.entrants)
            inputs = self.store, self.contest, self.entrants, self.vocabulary
            faults = predict(*inputs, progress, run_options, sharing)
            _tell_rest(sharing, progress)
            return faults

    def compare(self, progress: Progress, run_options: RunOptions = RUN_OPTIONS) -> None:
        """Take step 3: agreement of every pair."""
        with self._shared(run_options) as sharing:
            with sharing.turn():
                sharing.join(self._question())
            compare(self.store, self.contest, self.entrants, self.vocabulary, progress, run_options, sharing)
            _tell_rest(sharing, progress)

    def _shared(self, run_options: RunOptions) -> AbstractContextManager[Sharing]:
        return share(self.folder, run_options.part)

    def _question(self) -> str:
        """Return a hash of what processes that share the folder must have alike."""
        return digest([to_plain(self.contest), [entrant.key for entrant in self.entrants]])

    def stream(
        self, progress: Progress, run_options: RunOptions = RUN_OPTIONS
    ) -> tuple[Selection | None, StreamTotal, list[str]]:
        """Take steps 1 to 4 in one pass, without keeping maps; also return counters and what went wrong.

        No selection is made where other parts have some left to do."""
        with self._shared(run_options) as sharing:
            with sharing.turn():
                record(self.folder, self.contest.numerics, allow_other=run_options.other_numerics)
                sharing.join(self._question())
                (self.folder / APPROXIMATE).unlink(missing_ok=True)
            inputs = self.folder, self.contest, self.entrants, self.vocabulary
            answer = stream(*inputs, progress, run_options, sharing)
            _tell_rest(sharing, progress)
            return answer

    def among_candidates(
        self, progress: Progress, run_options: RunOptions = RUN_OPTIONS
    ) -> tuple[Selection, list[str]]:
        """Let models that came after a stream compete on the images that it kept, and no others: approximate."""
        if not self.streamed:
            raise BadInput(f"--among-candidates: {self.folder} was not streamed; without it nothing is approximate")
        faults = self.predict(progress, run_options)
        self.compare(progress, run_options)
        with share(self.folder, ""):
            extend_bounds(self.store, self.contest, self.entrants, self.vocabulary)
            write(self.folder / APPROXIMATE, f"{len(self.store.index)}\n".encode())
            return select(self.store, self.contest, self.entrants, self.vocabulary), faults

    @property
    def caveat(self) -> str:
        """What must be said beside every result, if anything."""
        path = self.folder / APPROXIMATE
        words = "APPROXIMATE: models added later saw only the {} images that the stream had kept as candidates"
        return words.format(path.read_text().strip()) if path.exists() else ""

    @property
    def streamed(self) -> bool:
        """Whether its pool was gone through once, without keeping maps."""
        return (self.folder / STREAM).exists()

    def select(self) -> Selection:
        """Take step 4: the most discrepant images."""
        with share(self.folder, ""):
            return select(self.store, self.contest, self.entrants, self.vocabulary)

    def members(self) -> list[Any]:
        """Return the selection as it stands."""
        return read_members(self.folder, self.entrants, self.vocabulary)

    def images(self) -> ContestImages:
        """Return the pool's images with every model's map."""
        return ContestImages(self.store, self.contest, self.entrants, self.vocabulary)

    def rank(self, scored_by: ScoredBy, draws: int = 1000) -> RankingReport:
        """Take the last step: who wins."""
        if scored_by == "votes":
            return by_votes(self.images(), self.members(), draws)
        return by_truth(self.images(), self.members(), scored_by, draws)

    def rank_by(
        self, metric: str, scored_by: ScoredBy, draws: int, progress: Progress, run_options: RunOptions = RUN_OPTIONS
    ) -> RankingReport:
        """Return the ranking, had another metric of agreement selected the images; the selection stays as it is."""
        concordances.get(metric)  # refused before anything is computed
        if scored_by == "votes":
            raise BadInput("other metrics select other images, on which nobody has voted; judge by masks or labels")
        if (self.folder / STREAM).exists():
            raise BadInput(
                f"{self.folder} keeps only what {self.contest.metric} chose; stream again with --metric {metric}"
            )
        other = replace(self, contest=replace(self.contest, metric=metric))
        other.compare(progress, run_options)
        selection = find(self.store, other.contest, self.entrants, self.vocabulary)
        return by_truth(self.images(), selection.members, scored_by, draws)


def _tell_rest(sharing: Sharing, progress: Progress) -> None:
    if not sharing.complete:
        progress.warn(f"this part is done; {sharing.left_to()}")
