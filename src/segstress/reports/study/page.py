"""The page: one HTML file that needs nothing else, for a person who wants to know how sturdy a model is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from ..kit.drawing import Drawing
from ..kit.gallery import Strip
from ..kit.naming import percent, plural
from ..kit.table import Table
from ..kit.templating import render
from .assessment import FIGURES, Assessment
from .caveats import caveats
from .floor_tables import MEANING
from .tables import HEADLINE

LISTED = 100  # rows of a table in the page; its files have all
REMARKS = 10  # warnings at the top
STRIPS = 12  # images of the gallery in the page; the folder has all
HIDDEN = {
    "robust": ("figure",),
    "perturbations": (
        *("about", "strongest_accuracy", "strongest_miou"),
        *(figure for figure in FIGURES if figure not in HEADLINE),
    ),
    "pairs": tuple(f"{figure}_doubt" for figure in HEADLINE),
    "radii": ("eps",),
    "floors": ("figure",),
}  # columns that only the files have


@dataclass(frozen=True, eq=False)
class Part:
    """Tables and figures that belong together."""

    name: str  # of its files, and its anchor
    tables: dict[str, Table]
    drawings: dict[str, Drawing]

    def file(self, name: str) -> str:
        """The file of a table or figure, without its ending."""
        return "-".join(filter(None, (self.name, name)))

    def svg(self, name: str) -> Markup:
        """A figure for the page."""
        return Markup(self.drawings[name].inline(f"{self.name}-{name}"))  # drawn by us, its text escaped by matplotlib


@dataclass(frozen=True, eq=False)
class Section(Part):
    """What the page shows of one study."""

    judged: Assessment
    strips: Sequence[Strip]

    @property
    def headline(self) -> str:
        """The study in one sentence."""
        study, clean = self.judged.study, self.judged.score("accuracy")
        if np.isnan(clean):
            return f"Nothing could be measured of {study.model}: no image has both a prediction and a truth."
        at = f" at {study.threat}" if study.threat else ""
        if not study.outcomes:
            parts = " and ".join(alone.parts for alone in study.alone)
            done = f"{parts} were attacked one by one{at}" if parts else "nothing was done to them"
            return f"{study.model} has {percent(clean)} % of pixels right on clean images; {done}."
        noun = "attack" if all(outcome.kind == "attack" for outcome in study.outcomes) else "perturbation"
        left = percent(self.judged.worst_score("accuracy"))
        many = plural(len(study.outcomes), noun)
        under = f"{study.battery} ({many})" if study.battery else many
        return f"{study.model} keeps {left} % of pixels right under {under}{at}; clean {percent(clean)} %."

    @property
    def shown(self) -> Sequence[Strip]:
        """The strips that fit into the page."""
        return self.strips[:STRIPS]

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Name and colour of the classes seen in the gallery."""
        study = self.judged.study
        maps = [part for strip in self.shown for part in (strip.frame.truth, strip.frame.clean, strip.frame.prediction)]
        seen = {int(klass) for part in maps for klass in np.unique(part) if klass >= 0}
        return [(study.classes[klass], "rgb({}, {}, {})".format(*study.palette[klass])) for klass in sorted(seen)]

    @property
    def caveats(self) -> list[str]:
        """What the way of the run leaves open."""
        return caveats(self.judged)


def page(sections: Sequence[Section], together: Part, overviews: Sequence[Part], title: str) -> str:
    """The whole page as text."""
    return render(
        "page.html",
        sections=sections,
        together=together,
        overviews=overviews,
        title=title,
        remarks=REMARKS,
        listed=LISTED,
        hidden=HIDDEN,
        meaning=MEANING,
    )
