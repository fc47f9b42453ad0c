"""The runs that claims rest on: how each is carried out into its folder, and how it is read again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ...contests import compete
from ...contests import report as mad
from ...contests.plan import read_contest
from ...evaluation.report import report, studies
from ...evaluation.run import evaluate
from ...planning.plan import read_plan
from ...reports.study.assessment import Assessment, assess
from ...results.local import LocalResult
from ...results.local_results import read_local
from ...results.minimal import MinimalResult, read_minimal
from ...results.run import Run
from ...runtime import Progress, RunOptions

BATCH = 4  # images per pass: small ones take half the time together
Asked = Callable[[int], Mapping[str, Any]]  # a plan for so many test images


class Need(Protocol):
    """A run that a claim rests on; several claims may share one."""

    @property
    def name(self) -> str:
        """Of its folder; what has one name is one run."""
        ...

    @property
    def page(self) -> str:
        """Of its own report, below its folder."""
        ...

    def carry_out(self, folder: Path, images: int, run_options: RunOptions, progress: Progress) -> tuple[str, ...]:
        """Do what the folder does not hold yet; what went wrong."""
        ...


@dataclass(frozen=True)
class Evaluation:
    """Perturbations on models, with a report of its own."""

    name: str
    asked: Asked
    write: Callable[[Path], object] = lambda folder: report([folder])
    page: str = "report/index.html"

    def carry_out(self, folder: Path, images: int, run_options: RunOptions, progress: Progress) -> tuple[str, ...]:
        """Evaluate and report."""
        plan = {**self.asked(images), "numerics": {"batch_size": BATCH}}
        errors = evaluate(read_plan(plan), folder, run_options, progress).errors
        self.write(folder)
        return errors


@dataclass(frozen=True)
class ContestRun:
    """A competition, judged by the masks of its pool."""

    name: str
    asked: Asked
    page: str = "report/index.html"

    def carry_out(self, folder: Path, images: int, run_options: RunOptions, progress: Progress) -> tuple[str, ...]:
        """Go from the pool to the ranking."""
        competition = compete.begin(read_contest(self.asked(images)), folder)
        _, faults = compete.walk(competition, progress, run_options)
        mad.report(competition, competition.rank("masks"))
        return tuple(faults)


class Evidence:
    """Finished runs, each read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._judged: dict[str, dict[str, Assessment]] = {}

    def assessments(self, need: Need) -> dict[str, Assessment]:
        """Return what an evaluation under one threat says of each model, by name."""
        if need.name not in self._judged:
            evaluated = studies([self.folder / need.name])
            self._judged[need.name] = {study.model: assess(study) for study in evaluated}
        return self._judged[need.name]

    def minimal(self, need: Need) -> list[MinimalResult]:
        """Return the smallest deltas that were found."""
        return read_minimal(Run(self.folder / need.name))

    def local(self, need: Need) -> list[LocalResult]:
        """Return the damage to part of the images, zone by zone."""
        return read_local(Run(self.folder / need.name))

    def ranking(self, need: Need) -> dict[str, Any]:
        """Return the ranking of a competition as plain data."""
        plain: dict[str, Any] = json.loads((self.folder / need.name / "report" / mad.SUMMARY).read_text())
        return plain
