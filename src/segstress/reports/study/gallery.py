"""Pictures of what a perturbation did: image, truth, predictions, delta, errors; and the names of their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

from ...results.study import Frame, Study
from ..kit.frames import pictures, right
from ..kit.naming import percent, slugs
from ..kit.pictures import Strip

COLUMNS = ("image", "truth", "clean prediction", "perturbed image", "delta", "prediction", "error map")
SHARED = COLUMNS[:3]  # the same for every perturbation of an image
STRIPS = 4  # images in a study's own part of the page; the gallery shows all


@dataclass(frozen=True, eq=False)
class FrameFiles:
    """Names of the pictures of a study; its catalogue tells them to the page's script."""

    study: Study
    name: str  # of the study's part of the page

    @cached_property
    def images(self) -> dict[str, str]:
        """The name of each image that has pictures."""
        more = self.study.more.ids if self.study.more is not None else ()
        return _names([*(frame.image_id for frame in self.study.frames), *more])

    @cached_property
    def outcomes(self) -> dict[str, str]:
        """The name of each perturbation that may have pictures."""
        return _names([outcome.label for outcome in self.study.outcomes])

    def file(self, frame: Frame, column: str) -> str:
        """Join by two dashes, which no name has, so that no two pictures share a file."""
        own = [] if column in SHARED else [self.outcomes[frame.outcome]]
        parts = [self.name, self.images[frame.image_id], *own, column.replace(" ", "-")]
        return f"gallery/{'--'.join(parts)}.png"


def strips(study: Study, name: str) -> Iterator[Strip]:
    """Yield a row for every frame; the page shows of the first images that of the most harmful perturbation."""
    files, worst = FrameFiles(study, name), strongest(study.frames)
    first = [*worst.values()][:STRIPS]
    by_image = sorted(study.frames, key=lambda frame: [*worst].index(frame.image_id))
    for frame in chain(by_image, study.more or ()):
        row = pictures(frame, COLUMNS, study.palette, partial(files.file, frame))
        yield Strip(frame.image_id, _words(frame), row, shown=frame in first)


def _words(frame: Frame) -> str:
    before, after = (percent(right(frame.truth, labels)) for labels in (frame.clean, frame.prediction))
    return f"under {frame.outcome}: {before} % right, then {after} %"


def strongest(frames: Sequence[Frame]) -> dict[str, Frame]:
    """Find for each image the frame with the fewest pixels right; of equal ones the first."""
    worst: dict[str, Frame] = {}
    for frame in frames:
        so_far = worst.setdefault(frame.image_id, frame)
        if right(frame.truth, frame.prediction) < right(so_far.truth, so_far.prediction):
            worst[frame.image_id] = frame
    return worst


def _names(texts: list[str]) -> dict[str, str]:
    different = list(dict.fromkeys(texts))
    return dict(zip(different, slugs(different), strict=True))
