"""What a run from Python hands back: figures, tables, pictures, a report; all of it read from the run's folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..core import BadInput
from ..evaluation.local_report import spatial_report
from ..evaluation.minimal_report import report as minimal_report
from ..evaluation.report import report, studies
from ..reports.local.tables import scores
from ..reports.minimal.tables import table as sizes
from ..reports.study.summary import summary
from ..results.lacking import alarms
from ..results.local_results import read_local
from ..results.minimal import read_minimal
from ..results.run import Run
from ..results.study import Frame, Study
from .process import ResultFolder
from .rows import Rows, rows_of

Figures = Mapping[str, float | None]  # by name, such as accuracy; none where one is undefined


@dataclass(frozen=True, eq=False, repr=False)
class RunResult(ABC):
    """A folder of results, what went wrong on the way, and what they say."""

    folder: Path
    errors: tuple[str, ...]  # images that could not be answered
    notes: tuple[str, ...]  # images that were converted or skipped
    held: tuple[object, ...] = field(
        default=()
    )  # the model and the data, to be looked at again, and a temporary folder

    @abstractmethod
    def table(self) -> Rows:
        """Return its figures, a row each."""

    @abstractmethod
    def report(self, folder: Path | str | None = None) -> Path:
        """Write the report, by default into the run's folder; the path of the page."""

    @abstractmethod
    def _line(self) -> str:
        """Return what was found, in a few words."""

    def keep(self) -> Path:
        """Keep the folder of results also when it is temporary and this object is gone; return it."""
        for thing in self.held:
            if isinstance(thing, ResultFolder):
                thing.keep()
        return self.folder

    def _page_folder(self, folder: Path | str | None) -> Path | None:
        """Return where a page is to go; where that is the run's own folder, it is kept."""
        if folder is None:
            self.keep()
        return None if folder is None else Path(folder)

    @property
    def alarms(self) -> tuple[str, ...]:
        """What the figures lack: cells and images without an answer."""
        return ()

    @property
    def complete(self) -> bool:
        """Whether every image was answered."""
        return not self.alarms

    def to_pandas(self) -> Any:
        """Return the table as a DataFrame, where pandas is installed."""
        return self.table().to_pandas()

    def __repr__(self) -> str:
        failed = f", {len(self.errors)} errors" if self.errors else ""
        failed += "" if self.complete else ", INCOMPLETE"
        return f"<{type(self).__name__}: {self._line()}{failed}; {self.folder}>"

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{escape(line)}</p>" for line in (*self.alarms, *self.errors[:10], *self.notes[:10]))
        return f"<p>{escape(self._line())}</p>{self.table()._repr_html_()}{said}<p>{escape(str(self.folder))}</p>"


class Answers(RunResult):
    """Results of which every image must have an answer."""

    @property
    def alarms(self) -> tuple[str, ...]:
        """What the figures lack: cells and images without an answer."""
        return tuple(alarms(Run(self.folder)))


@dataclass(frozen=True, eq=False, repr=False)
class Evaluated(Answers):
    """Figures of clean images, of every perturbation, and of the worst of them image by image (an upper bound)."""

    @cached_property
    def studies(self) -> tuple[Study, ...]:
        """One for each model, dataset and threat."""
        return tuple(studies([self.folder]))

    @cached_property
    def figures(self) -> Mapping[str, Any]:
        """Every figure as plain data, with definitions: what `segstress report --json` prints."""
        return summary(self.studies)

    @property
    def clean(self) -> Figures:
        """Figures of the images as they are."""
        return self._only["clean"]

    @property
    def worst(self) -> Figures:
        """Figures when every image meets the perturbation that harms it most."""
        return self._only["worst_case"]

    @property
    def _only(self) -> Mapping[str, Any]:
        runs = self.figures["runs"]
        if len(runs) != 1:
            raise BadInput(
                f"the run has {len(runs)} models, datasets or threats, each with figures of its own; "
                "read result.table() or result.figures['runs']"
            )
        return runs[0]

    def table(self) -> Rows:
        """Return clean, every perturbation, and the worst case, for each model, dataset and threat."""
        rows = Rows()
        for run in self.figures["runs"]:
            lines = {"clean": run["clean"], **run["perturbations"]}
            lines |= {"worst case": run["worst_case"]} if run["perturbations"] else {}
            for name, values in lines.items():
                row = {key: run[key] for key in ("model", "data", "threat")} | {"perturbation": name}
                row |= {figure: values.get(figure) for figure in run["headline"]} | {"complete": run["complete"]}
                rows.append(row | {key: values.get(key) for key in ("forwards", "backwards", "images")})
        return rows

    def images(self, n: int = 4) -> list[Frame]:
        """Return at most n images as they were and as they harm most, with truth and both predictions."""
        worst: dict[tuple[str, str, str], Frame] = {}
        for study in self.studies:
            for frame in study.frames:
                key = (study.model, study.data, frame.image_id)
                if key not in worst or _right(frame) < _right(worst[key]):
                    worst[key] = frame
        return list(worst.values())[:n]

    def report(self, folder: Path | str | None = None) -> Path:
        """Write tables, figures, gallery and page; the path of the page."""
        return report([self.folder], self._page_folder(folder), known=self.studies)

    def _line(self) -> str:
        runs = self.figures["runs"]
        words = [
            f"{run['model']} on {run['data']}, accuracy {_percent(run['clean'])} clean, {_percent(run['worst_case'])} "
            f"at worst{' under ' + run['threat'] if run['threat'] else ''}"
            for run in runs[:1]
        ]
        return "; ".join([*words, *([f"{len(runs) - 1} more"] if len(runs) > 1 else [])])


@dataclass(frozen=True, eq=False, repr=False)
class SmallestChanges(Answers):
    """How small a change breaks each image."""

    def table(self) -> Rows:
        """Return sizes over all images, for each attack and threshold."""
        return rows_of(sizes(read_minimal(Run(self.folder))))

    def images(self) -> Rows:
        """Return what was found of each image."""
        return Rows(vars(result) for result in read_minimal(Run(self.folder)))

    def report(self, folder: Path | str | None = None) -> Path:
        """Write page, tables and curves into the run's folder; the path of the page."""
        _no_other(folder)
        return minimal_report(self.keep())[1]

    def _line(self) -> str:
        results = read_minimal(Run(self.folder))
        broken = sum(result.success for result in results)
        return f"{broken} of {len(results)} searches broke their image"


@dataclass(frozen=True, eq=False, repr=False)
class LocalDamage(Answers):
    """What damage to part of the images does there, and elsewhere."""

    def table(self) -> Rows:
        """Return every figure inside, outside and everywhere, clean and perturbed."""
        return rows_of(scores(read_local(Run(self.folder))))

    def report(self, folder: Path | str | None = None) -> Path:
        """Write the page of localized damage into the run's folder; its path."""
        _no_other(folder)
        return spatial_report(Run(self.keep()))

    def _line(self) -> str:
        results = read_local(Run(self.folder))
        return f"{len(results)} perturbations of parts of images"


def _no_other(folder: Path | str | None) -> None:
    if folder is not None:
        raise BadInput("this report is written into the run's own folder; name it with out= when you start the run")


def _right(frame: Frame) -> float:
    """Return the share of the labelled pixels that are right after the perturbation."""
    known = frame.truth >= 0
    return float(np.mean(frame.prediction[known] == frame.truth[known])) if known.any() else 1.0


def _percent(values: Figures) -> str:
    value = values.get("accuracy")
    return "-" if value is None else f"{100 * value:.1f} %"
