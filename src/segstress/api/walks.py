"""The other walks from Python: doubt a model, check a run again, report it, let models compete, train one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from ..competition.ranking_report import RankingReport, ScoredBy
from ..contests.compete import begin, walk
from ..contests.competition import Competition
from ..contests.plan import read_contest
from ..contests.report import report as contest_report
from ..core import BadInput, Spec, to_plain
from ..data import datasets
from ..doctor import Diagnosis
from ..evaluation.checkup import check_up
from ..evaluation.report import report as run_report
from ..evaluation.verify import Verdict
from ..evaluation.verify import verify as verify_run
from ..fitting.plan import read_training_plan
from ..fitting.train import train as train_model
from ..models import models as kinds
from ..runtime import Progress, RunOptions
from ..training import Watcher, recipes
from .asking import data_settings, model_settings, plan_of
from .process import ResultFolder, here, listener, log
from .results import RunResult
from .rows import Rows

RunFolder = Path | str | RunResult


def doctor(
    model: nn.Module | Spec,
    data: Any,
    *,
    quick: bool = False,
    classes: int | Sequence[str] | None = None,
    ignore: int | Sequence[int] | None = 255,
    name: str = "",
    interface: Mapping[str, Any] | None = None,
    **numerics: Any,
) -> Diagnosis:
    """Say what speaks against trusting an evaluation of a model on these images: flags, or none."""
    with here(model):
        given = model_settings(model, name, interface or {})
        source = data_settings(data, given, classes, ignore)
        plan = plan_of(model, given, source, numerics)
        (diagnosis,) = check_up(quick=quick, models=plan.models, data=plan.data, numerics=to_plain(plan.numerics))
        return diagnosis


def verify(run: RunFolder, share: float = 0.1, *, everything: bool = False, seed: int | None = None) -> list[Verdict]:
    """Judge a run again: its files and seal, then cell by cell; `sound` says whether all agree."""
    with here():
        return verify_run(_folder(run), share, everything=everything, seed=seed)


def report(runs: RunFolder | Sequence[RunFolder], out: Path | str | None = None) -> Path:
    """Write the report of one or more runs; the path of the page."""
    several = [runs] if isinstance(runs, Path | str | RunResult) else list(runs)
    if out is None:  # the page goes into the folder of the first
        for run in (run for run in several if isinstance(run, RunResult)):
            run.keep()
    return run_report([_folder(run) for run in several], None if out is None else Path(out))


def train(plan: str | None = None, *, out: Path | str | None = None, **changes: Any) -> Path:
    """Train as a plan says, by name or path, with changes such as recipe="pgd-at", share=0.5, epochs=8, model, data.

    The model is a spec, since the checkpoint names it; the images may be in memory. The path of the checkpoint."""
    if isinstance(changes.get("model"), nn.Module):
        raise BadInput("train: expected a model spec such as 'factory:nets.py:enet', which the checkpoint can name")
    with here():
        datasets_given = {key: data_settings(changes[key]) for key in ("data", "validation") if key in changes}
        training_plan = read_training_plan(
            plan, changes | {key: datasets.spec(data) for key, data in datasets_given.items()}
        )
        name = Path(plan).stem if plan else recipes.read(training_plan.recipe)["kind"]
        folder = Path("runs") / f"train-{name}" if out is None else Path(out)
        return train_model(training_plan, folder, Watcher(warn=log.warning))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ranked(RunResult):
    """Models ranked on the images on which they disagree most."""

    competition: Competition
    ranking: RankingReport

    def table(self) -> Rows:
        """Return a row for each model, the strongest first: rank, its band and strength in every ranking."""
        ranking, rows = self.ranking, Rows()
        for model in ranking.order:
            row: dict[str, Any] = {"model": ranking.names[model]}
            for name, ranking_of_name in ranking.rankings.items():
                row |= {name: int(ranking_of_name.rank[model]), f"{name}_best": int(ranking_of_name.best[model])}
                row |= {
                    f"{name}_worst": int(ranking_of_name.worst[model]),
                    f"{name}_strength": float(ranking_of_name.strengths[model]),
                }
            rows.append(row)
        return rows

    def report(self, folder: Path | str | None = None) -> Path:
        """Write tables, figures, gallery and page; the path of the page."""
        return contest_report(self.competition, self.ranking, self._page_folder(folder))

    def _line(self) -> str:
        ranking = self.ranking
        order = " > ".join(ranking.names[model] for model in ranking.order)
        return f"{order}, scored by {ranking.scored_by} on {len(ranking.images)} images"


def compete(
    models: Sequence[nn.Module | Spec] | Mapping[str, nn.Module | Spec],
    pool: Any,
    *,
    judge: ScoredBy = "masks",
    classes: int | Sequence[str] | None = None,
    ignore: int | Sequence[int] | None = 255,
    draws: int = 1000,
    out: Path | str | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    **settings: Any,
) -> Ranked:
    """Choose the images of a pool on which models disagree most, and rank the models on them.

    `models` is a list, or names with models. Other settings are those of a competition: metric, scale, rule, copies."""
    entrants = list(models.items()) if isinstance(models, Mapping) else [("", model) for model in models]
    modules = [model for _, model in entrants if isinstance(model, nn.Module)]
    if workers != 1 and modules:
        raise BadInput(f"workers={workers}: models in memory stay in this process; leave workers out")
    with here(*modules):
        given = [model_settings(model, name, {}) for name, model in entrants]
        source = data_settings(pool, given[0] if given else None, classes, ignore)
        contest = {"models": list(map(kinds.spec, given)), "pool": datasets.spec(source), **settings}
        folder = ResultFolder(out)
        competition = begin(read_contest(contest), folder.path)
        _, faults = walk(competition, listener(progress), RunOptions(workers))
        ranking, alive = competition.rank(judge, draws), (modules, source, folder)
        return Ranked(competition.folder, tuple(faults), (), alive, competition=competition, ranking=ranking)


def _folder(run: RunFolder) -> Path:
    return run.folder if isinstance(run, RunResult) else Path(run)
