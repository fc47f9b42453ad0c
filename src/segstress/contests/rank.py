"""The last step of a competition: who wins, scored by masks, imported labels or votes, and how surely."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..competition.matrices import Scored, aggressiveness, performance, resistance
from ..competition.ranking import PRIOR, check_connected, fit, fit_ratios, geometric, perron, separable
from ..competition.ranking_report import RankingReport, ScoredBy
from ..competition.select import Member
from ..competition.uncertainty import rank
from ..competition.votes import Vote, VoteTally, check_votes, tally
from ..core import BadInput
from ..voting.decision_log import DecisionLog
from .images import ContestImages, quality
from .screening import decisions

VOTES = "votes.jsonl"  # votes that were not cast on our page, if there are any


def by_truth(
    contest_images: ContestImages, members: Sequence[Member], scored_by: ScoredBy, draws: int = 1000
) -> RankingReport:
    """Rank by the quality of both models on the images selected for them."""
    names = [entrant.name for entrant in contest_images.entrants]
    truth_of = contest_images.mask if scored_by == "masks" else contest_images.trusted
    places, table = _qualities(contest_images, sorted({member.image for member in members}), truth_of)
    counted = [member for member in members if _known(member, places, table)]
    if not counted:
        raise BadInput(f"no selected image has {scored_by} to judge by; import labels, or choose --judge votes")
    scored = _scored(counted, places, table, len(names))
    mean_quality = performance(scored)
    matrices = {"aggressiveness": aggressiveness(mean_quality), "resistance": resistance(mean_quality)}
    check_connected(matrices["aggressiveness"], names)
    rankings = {name: rank(_measure(scored, name), scored.distinct, draws) for name in matrices}
    ratios = matrices["aggressiveness"]
    hold = PRIOR if separable(ratios) else 0.0
    others = {
        "bradley-terry": fit(ratios, "bradley-terry", hold),
        "perron": perron(ratios),
        "geometric": geometric(ratios),
    }
    notes = []
    if len(counted) < len(members):
        notes.append(f"{len(members) - len(counted)} memberships have no truth and do not count")
    if hold:
        notes.append(f"so many subsets are empty that strengths lean on a normal prior of precision {PRIOR}")
    return RankingReport(
        names=names,
        scored_by=scored_by,
        members=counted,
        images=list(places),
        rankings=rankings,
        others=others,
        matrices=matrices,
        notes=notes,
        scored=scored,
        quality=table,
    )


def _measure(scored: Scored, name: str) -> Callable[[np.ndarray | None], np.ndarray]:
    """Return the strengths by one of the two matrices, for any weights of the images."""
    of = {"aggressiveness": aggressiveness, "resistance": resistance}[name]
    return lambda weights: fit_ratios(of(performance(scored, weights)))


def _qualities(
    contest_images: ContestImages, images: Sequence[str], truth_of: Callable[[str], np.ndarray | None]
) -> tuple[dict[str, int], np.ndarray]:
    """Place of each image that has a truth, and the quality of every model on it."""
    rows: list[list[float]] = []
    places: dict[str, int] = {}
    for image, maps in contest_images.maps(images):
        truth = truth_of(image)
        if truth is not None:
            places[image] = len(rows)
            rows.append(
                [
                    quality(truth, maps[e.name], contest_images.vocabulary) if e.name in maps else np.nan
                    for e in contest_images.entrants
                ]
            )
    return places, np.array(rows).reshape(len(rows), len(contest_images.entrants))


def _known(member: Member, places: Mapping[str, int], table: np.ndarray) -> bool:
    return member.image in places and bool(
        np.isfinite(table[places[member.image], [member.defender, member.attacker]]).all()
    )


def _scored(members: Sequence[Member], places: Mapping[str, int], table: np.ndarray, models: int) -> Scored:
    images, defenders, attackers, classes = (
        np.array(column, dtype=np.int64)
        for column in zip(*((places[m.image], m.defender, m.attacker, m.class_) for m in members), strict=True)
    )
    return Scored(models, images, defenders, attackers, classes, table[images, defenders], table[images, attackers])


def by_votes(contest_images: ContestImages, members: Sequence[Member], draws: int = 1000) -> RankingReport:
    """Rank by people's choices: overall, and as attacker and defender."""
    names = [entrant.name for entrant in contest_images.entrants]
    votes = check_votes(read_votes(contest_images.store.folder), names)
    cast = tally(votes, members, names)
    wins = cast.overall()
    check_connected(wins, names)
    notes = []
    if separable(wins):
        notes.append(f"some models win or lose every vote: strengths lean on a normal prior of precision {PRIOR}")
    rankings = {"overall": rank(lambda weights: fit(cast.overall(weights), prior=PRIOR), cast.distinct, draws)}
    for index, role in enumerate(("attack", "defence")):
        rankings[role] = rank(_role(cast, index), cast.distinct, draws)
    others = {"bradley-terry": fit(wins, "bradley-terry", PRIOR), "ratios of votes": fit_ratios(cast.ratios())}
    matrices = {"wins": wins, "attack": cast.attack(), "defence": cast.defence()}
    return RankingReport(
        names=names,
        scored_by="votes",
        members=members,
        images=sorted({vote.image for vote in votes}),
        rankings=rankings,
        others=others,
        matrices=matrices,
        notes=notes,
        votes=votes,
    )


def _role(cast: VoteTally, role: int) -> Callable[[np.ndarray | None], np.ndarray]:
    """Return the strengths of the models in one of the two roles."""

    def strengths(weights: np.ndarray | None) -> np.ndarray:
        both = fit(cast.roles(weights), prior=PRIOR)
        own = both[..., role * cast.models : (role + 1) * cast.models]
        centred: np.ndarray = own - own.mean(-1, keepdims=True)
        return centred

    return strengths


def read_votes(folder: Path) -> list[Vote]:
    """Return the votes cast on the judge page, and those of a file from elsewhere; what was undone is left out."""
    cast = [(row, _vote) for row in decisions(folder, "choose").current()]
    rows = cast + [(row, dict) for row in DecisionLog(folder / VOTES).current()]
    if not rows:
        raise BadInput(f"{folder} has no votes; collect some with segstress mad judge")
    votes = []
    for row, read in rows:
        try:
            votes.append(Vote(**read(row)))
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"no vote: {str(row)[:200]} ({str(error).splitlines()[0]})") from error
    return votes


def _vote(row: Mapping[str, Any]) -> dict[str, Any]:
    left, right = row["shown"]
    kept = ("id", "image", "choice", "rater", "reason", "repeat", "session", "sequence", "milliseconds", "time")
    return {"left": left, "right": right} | {key: row[key] for key in kept}
