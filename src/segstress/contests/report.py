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
from ..reports.contest.contested import Contested
from ..reports.contest.gallery import SelectedImage
from ..reports.contest.page import write_competition
from ..reports.kit.naming import percent
from .compete import Competition

EXAMPLES = 12  # images of the gallery
SUMMARY = "standing.json"


def report(competition: Competition, standing: RankingReport, out: Path | None = None) -> Path:
    """Write tables, figures, gallery, page and standing.json; the path of the page."""
    vocabulary = competition.vocabulary
    own = competition.contest.data().palette
    palette = (
        own if len(own) == len(vocabulary.classes) else make_palette(len(vocabulary.classes), vocabulary.background)
    )
    contested = Contested(
        title=f"Competition {competition.folder.resolve().name}",
        standing=standing,
        classes=vocabulary.classes,
        palette=tuple(palette),
        empty=_empty(competition.folder),
        examples=list(_examples(competition, standing)),
        provenance={key: json.dumps(value) for key, value in to_plain(competition.contest).items()},
    )
    folder = out or competition.folder / "report"
    page = write_competition(contested, folder)
    (folder / SUMMARY).write_text(json.dumps(summary(standing), indent=1))
    return page


def summary(standing: RankingReport) -> dict[str, Any]:
    """Every figure of a standing, NaN as null."""
    rankings = {
        name: {
            model: {
                "strength": _number(ranking.strengths[index]),
                "interval": [_number(ranking.low[index]), _number(ranking.high[index])],
                "rank": int(ranking.rank[index]),
                "band": [int(ranking.best[index]), int(ranking.worst[index])],
            }
            for index, model in enumerate(standing.names)
        }
        for name, ranking in standing.rankings.items()
    }
    return {
        "models": list(standing.names),
        "judged_by": standing.judged_by,
        "images": len(standing.images),
        "rankings": rankings,
        "others": {name: list(map(_number, strengths)) for name, strengths in standing.others.items()},
        "matrices": {name: [list(map(_number, row)) for row in values] for name, values in standing.matrices.items()},
        "clean": dict(standing.clean),
        "otherwise": {metric: _likeness(standing, other) for metric, other in standing.otherwise.items()},
        "notes": list(standing.notes),
    }


def _likeness(ranking: RankingReport, other: RankingReport) -> dict[str, Any]:
    """How far the ranking agrees with another's, by Spearman and Kendall."""
    correlations = {name: list(map(_number, both)) for name, both in ranking.correlation(other).items()}
    return {"images": len(other.images), "correlation": correlations}


def compare_standings(folders: list[Path]) -> dict[str, dict[str, float]]:
    """Spearman's rank correlation of each ranking between competitions, such as those by other metrics."""
    standings = {}
    for folder in folders:
        path = folder / "report" / SUMMARY
        if not path.exists():
            raise BadInput(f"{folder} has not been ranked; run segstress mad rank first")
        standings[folder.name] = json.loads(path.read_text())
    first_name, first = next(iter(standings.items()))
    correlations: dict[str, dict[str, float]] = {}
    for name, other in list(standings.items())[1:]:
        for ranking in set(first["rankings"]) & set(other["rankings"]):
            both = [document["rankings"][ranking] for document in (first, other)]
            common = sorted(set(both[0]) & set(both[1]))
            strengths = [[side[model]["strength"] for model in common] for side in both]
            correlations.setdefault(f"{first_name} and {name}", {})[ranking] = rank_correlation(*strengths)[0]
    return correlations


def clean_scores(run: Path, metric: str = "cmiou") -> dict[str, float]:
    """Scores of models on ordinary data, from a run of segstress attack or run."""
    return {figures["model"]: figures["clean"][metric] for figures in figures_of([run])["runs"]}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _empty(folder: Path) -> list[tuple[str, str, str]]:
    path = folder / "empty.csv"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(defender, attacker, class_) for defender, attacker, class_ in (line.split(",", 2) for line in lines)]


def _examples(competition: Competition, ranking: RankingReport) -> Iterator[SelectedImage]:
    """The images that tell most: where the two models differ most in quality, else where they agree least."""
    first_seen: dict[str, int] = {}
    for index in np.argsort(_telling(ranking), kind="stable").tolist():
        first_seen.setdefault(ranking.members[index].image, index)
    entrants = competition.images()
    wanted = dict(list(first_seen.items())[:EXAMPLES])
    label_maps = dict(entrants.maps(list(wanted)))
    for image, index in wanted.items():
        member = ranking.members[index]
        truth = entrants.mask(image) if ranking.judged_by == "masks" else entrants.label(image)
        maps = {"truth": truth} if truth is not None else {}
        roles = (("defender", member.defender), ("attacker", member.attacker))
        maps |= {f"{ranking.names[model]} ({role})": label_maps[image][ranking.names[model]] for role, model in roles}
        plain = {title: _signed(labels, competition.vocabulary.scheme.void) for title, labels in maps.items()}
        class_ = competition.vocabulary.classes[member.class_]
        yield SelectedImage(image, _words(ranking, index, class_), entrants.pixels(image), plain)


def _telling(ranking: RankingReport) -> np.ndarray:
    if ranking.judged is None:
        return np.array([member.score for member in ranking.members])
    gaps: np.ndarray = np.abs(ranking.judged.defended - ranking.judged.attacked)
    return -gaps


def _words(ranking: RankingReport, index: int, class_: str) -> str:
    member = ranking.members[index]
    start = f"{member.image}, chosen for {class_}: agreement {percent(member.score)} %"
    if ranking.judged is None:
        return start
    own, other = (percent(float(side[index])) for side in (ranking.judged.defended, ranking.judged.attacked))
    return f"{start}; mIoU of {ranking.names[member.defender]} {own} %, of {ranking.names[member.attacker]} {other} %"


def _signed(labels: np.ndarray, void: int) -> np.ndarray:
    return np.where(labels == void, -1, labels.astype(np.int64))
