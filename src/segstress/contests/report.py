"""The report of a competition, and its figures as plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..competition.cases import rank_correlation
from ..competition.ranking_report import RankingReport
from ..core import BadInput, to_plain
from ..data.palette import make_palette
from ..evaluation.report import figures as figures_of
from ..reports.contest.contested import Contested, SelectedImage, telling
from ..reports.contest.page import write_competition
from .competition import Competition

PICTURED = 240  # images that have pictures in the page
SUMMARY = "ranking.json"


def report(competition: Competition, ranking_report: RankingReport, out: Path | None = None) -> Path:
    """Write tables, figures, gallery, page and ranking.json; the path of the page."""
    vocabulary = competition.vocabulary
    own = competition.contest.data().palette
    palette = (
        own if len(own) == len(vocabulary.classes) else make_palette(len(vocabulary.classes), vocabulary.background)
    )
    contested = Contested(
        title=f"Competition {competition.folder.resolve().name}",
        ranking_report=ranking_report,
        classes=vocabulary.classes,
        palette=tuple(palette),
        empty=_empty(competition.folder),
        images=list(_pictured(competition, ranking_report)),
        provenance={key: json.dumps(value) for key, value in to_plain(competition.contest).items()},
    )
    folder = out or competition.folder / "report"
    page = write_competition(contested, folder)
    (folder / SUMMARY).write_text(json.dumps(summary(ranking_report), indent=1))
    return page


def summary(ranking_report: RankingReport) -> dict[str, Any]:
    """Return every figure of a ranking, NaN as null."""
    rankings = {
        name: {
            model: {
                "strength": _number(ranking.strengths[index]),
                "interval": [_number(ranking.low[index]), _number(ranking.high[index])],
                "rank": int(ranking.rank[index]),
                "band": [int(ranking.best[index]), int(ranking.worst[index])],
            }
            for index, model in enumerate(ranking_report.names)
        }
        for name, ranking in ranking_report.rankings.items()
    }
    return {
        "models": list(ranking_report.names),
        "scored_by": ranking_report.scored_by,
        "images": len(ranking_report.images),
        "rankings": rankings,
        "beats": {name: ranking.beats.tolist() for name, ranking in ranking_report.rankings.items()},
        "others": {name: list(map(_number, strengths)) for name, strengths in ranking_report.others.items()},
        "matrices": {
            name: [list(map(_number, row)) for row in values] for name, values in ranking_report.matrices.items()
        },
        "clean": dict(ranking_report.clean),
        "otherwise": {metric: _likeness(ranking_report, other) for metric, other in ranking_report.otherwise.items()},
        "notes": list(ranking_report.notes),
    }


def _likeness(ranking: RankingReport, other: RankingReport) -> dict[str, Any]:
    """Tell how far the ranking agrees with another's, by Spearman and Kendall."""
    correlations = {name: list(map(_number, both)) for name, both in ranking.correlation(other).items()}
    return {"images": len(other.images), "correlation": correlations}


def compare_rankings(folders: list[Path]) -> dict[str, dict[str, float]]:
    """Return Spearman's rank correlation of each ranking between competitions, such as those by other metrics."""
    rankings = {}
    for folder in folders:
        path = folder / "report" / SUMMARY
        if not path.exists():
            raise BadInput(f"{folder} has not been ranked; run segstress mad rank first")
        rankings[folder.name] = json.loads(path.read_text())
    first_name, first = next(iter(rankings.items()))
    correlations: dict[str, dict[str, float]] = {}
    for name, other in list(rankings.items())[1:]:
        for ranking in set(first["rankings"]) & set(other["rankings"]):
            both = [document["rankings"][ranking] for document in (first, other)]
            common = sorted(set(both[0]) & set(both[1]))
            strengths = [[side[model]["strength"] for model in common] for side in both]
            correlations.setdefault(f"{first_name} and {name}", {})[ranking] = rank_correlation(*strengths)[0]
    return correlations


def clean_scores(run: Path, metric: str = "cmiou") -> dict[str, float]:
    """Return the scores of models on ordinary data, from a run of segstress attack or run."""
    return {figures["model"]: figures["clean"][metric] for figures in figures_of([run])["runs"]}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _empty(folder: Path) -> list[tuple[str, str, str]]:
    path = folder / "empty.csv"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(defender, attacker, class_) for defender, attacker, class_ in (line.split(",", 2) for line in lines)]


def _pictured(competition: Competition, ranking: RankingReport) -> Iterator[SelectedImage]:
    """Yield the images that tell most, each with the maps of the models that it was selected for."""
    models: dict[str, set[str]] = {}
    for index in telling(ranking):
        member = ranking.members[index]
        models.setdefault(member.image, set()).update(ranking.names[m] for m in (member.defender, member.attacker))
    wanted, entrants, void = list(models)[:PICTURED], competition.images(), competition.vocabulary.scheme.void
    label_maps = dict(entrants.maps(wanted))
    for image in wanted:
        truth = entrants.mask(image) if ranking.scored_by == "masks" else entrants.label(image)
        maps = {name: _signed(label_maps[image][name], void) for name in ranking.names if name in models[image]}
        yield SelectedImage(image, entrants.pixels(image), maps, None if truth is None else _signed(truth, void))


def _signed(labels: np.ndarray, void: int) -> np.ndarray:
    return np.where(labels == void, -1, labels.astype(np.int64))
