"""The places of a finished competition's models, under the names that a paper's have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..core import BadInput
from ..data import Dataset
from ..evaluation.deviation import UNKNOWN, Measure, Ours
from ..metrics.intervals import Interval
from ..planning.papers import Paper
from ..planning.published import PublishedModel
from ..runtime import read_json
from .plan import FILE, read_contest
from .report import SUMMARY

RANKING = f"report/{SUMMARY}"
REMEDY = "write it anew: segstress mad rank <the competition's folder>"
UNRELEASED = "The paper's pool was not released, so this is another; deviations do not tell of the paper."


def places(folder: Path, published: PublishedModel, stand_ins: Mapping[str, str], protocol: Paper) -> Ours:
    """Return the places of ours under the names of the paper's models, or of those they stand for.

    `stand_ins` has the names of ours by the paper's where they differ."""
    ranks, images = _ranking(folder / RANKING)
    theirs = published.placed
    own = list(dict.fromkeys(model for by_model in ranks.values() for model in by_model))
    both = f"the paper has {', '.join(theirs)}; {folder} has {', '.join(own)}"
    for name, label in stand_ins.items():
        if name not in theirs or label not in own:
            raise BadInput(f"--name {name}={label}: expected a model of the paper's and one of ours: {both}")
    same = {name: name for name in theirs if name in own and name not in stand_ins.values()}
    named = same | dict(stand_ins)
    if not named:
        raise BadInput(
            f'none of our models has a name of the paper\'s; say by --name "{theirs[0]}=OURS" which is which: {both}'
        )
    placed = [
        (f"{measure} {name}", label, by_model[label])
        for measure, by_model in ranks.items()
        for name, label in named.items()
        if label in by_model
    ]
    counted = (
        f"Bands of places, among {len(own)} models; images: {images}. The paper: among {len(theirs)} models; images:"
    )
    pool, otherwise = _asked(folder, protocol)
    return Ours(
        {figure: rank for figure, _, rank in placed},
        images,
        models={figure: label for figure, label, _ in placed},
        data=pool,
        notes=(f"{counted} {protocol.images}.", UNRELEASED, *otherwise),
    )


def ranked(folder: Path) -> set[str]:
    """Return the names of the models that a competition's ranking is of; none where there is no ranking yet."""
    return set(read_json(folder / RANKING, REMEDY).get("models", ())) if (folder / RANKING).is_file() else set()


def _asked(folder: Path, protocol: Paper) -> tuple[Dataset | None, list[str]]:
    """Return the pool, and what a competition asks otherwise than the protocol; nothing of one without its plan."""
    if not (folder / FILE).is_file():
        return None, []
    contest = read_contest(folder)
    pool, theirs = contest.data(), protocol.plan
    both_sides = {
        "metric": (theirs["metric"], contest.metric),
        "scale": (theirs["scale"], contest.scale),
        "images a group": (theirs["rule"]["chosen"], contest.rule.chosen),
        "resize": (theirs["pool"]["resize"], str(pool.resize)),
        "background": (theirs["pool"]["background"], pool.background if pool.classes else contest.background),
    }
    other = [f"{name} {ours}, not {wanted}" for name, (wanted, ours) in both_sides.items() if ours != wanted]
    other += ["other classes"] if pool.classes and list(pool.classes) != theirs["pool"]["classes"] else []
    return pool, [f"Otherwise than by the protocol: {'; '.join(other)}."] if other else []


def _ranking(path: Path) -> tuple[dict[str, dict[str, Measure]], int]:
    """Read the places of all models by what they are ranked by, and how many images decided."""
    if not path.is_file():
        raise BadInput(
            f"{path} does not exist; expected a finished competition: give --data POOL and two --model or more to hold"
            " one, or take segstress mad index, mad predict, mad compare, mad select and mad rank, then --out FOLDER"
        )
    ranking = read_json(path, REMEDY)
    try:
        ranks = {
            measure: {model: _rank(stored) for model, stored in by_model.items()}
            for measure, by_model in ranking["rankings"].items()
        }
        return ranks, int(ranking.get("images", 0))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path} is damaged: expected 'rankings' with the rank of every model; {REMEDY}") from error


def _rank(stored: Mapping[str, Any]) -> Measure:
    low, high = map(float, stored.get("band", UNKNOWN))
    return partial(Interval, float(stored["rank"]), low, high)
