"""What the page shows of one study: its headline, its chapters, its pictures and what must be said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..kit.naming import percent, plural
from ..kit.page import PagePart
from ..kit.pictures import legend
from ..kit.verdict import Point
from .assessment import Assessment
from .caveats import caveats, first_look
from .completeness import warnings as incomplete
from .completeness import worst_range
from .gallery import STRIPS, strongest
from .layout import chapter
from .verdict import points, verdict


@dataclass(frozen=True, eq=False)
class StudySection(PagePart):
    """The part of the page that belongs to one study."""

    assessment: Assessment

    @property
    def headline(self) -> str:
        """Say in one sentence what is left of the model."""
        study, clean = self.assessment.study, self.assessment.score("accuracy")
        if not self.assessment.measured:
            return f"Nothing could be measured of {study.model}: no image has both a prediction and a truth."
        at = f" at {study.threat}" if study.threat else ""
        if not study.outcomes:
            parts = " and ".join(alone.parts for alone in study.alone)
            done = f"{parts} were attacked one by one{at}" if parts else "nothing was done to them"
            return f"{study.model} has {percent(clean)} % of pixels right on clean images; {done}."
        noun = "attack" if study.threat else "perturbation"
        left = self._left()
        many = plural(len(study.outcomes), noun)
        under = f"{study.battery} ({many})" if study.battery else many
        beside = f" ({look})" if (look := first_look(study)) else ""
        return f"{study.model} keeps {left} % of pixels right under {under}{at}{beside}; clean {percent(clean)} %."

    def _left(self) -> str:
        """Return the worst-case accuracy in percent, as a range where answers are missing."""
        low, high = map(percent, worst_range(self.assessment, "accuracy"))
        return high if low == high else f"between {low} and {high}"

    def chapter(self, name: str) -> Sequence[tuple[str, str]]:
        """List sort and name of the tables and figures of a chapter."""
        return list(chapter(self, name))

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Name and colour of the classes seen in the gallery."""
        study = self.assessment.study
        frames = list(strongest(study.frames).values())[:STRIPS]
        maps = (labels for frame in frames for labels in (frame.truth, frame.clean, frame.prediction))
        return legend(maps, study.classes, study.palette)

    @property
    def verdict(self) -> str:
        """Say in one paragraph what is left of the model, by what, beside a constant answer."""
        return verdict(self.assessment)

    @property
    def points(self) -> list[Point]:
        """List what speaks for and against believing it."""
        return list(points(self.assessment))

    @property
    def caveats(self) -> list[str]:
        """Say what the way of the run leaves open."""
        return caveats(self.assessment)

    @property
    def alarms(self) -> list[str]:
        """Say which answers are missing."""
        study = self.assessment.study
        return [f"{study.model} on {study.data}: {line}" for line in incomplete(self.assessment)]
