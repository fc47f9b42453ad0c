"""Claim 5: corruption of a part and attack on a part, on a convolutional network and on a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...evaluation.local_report import spatial_report
from ...metrics.intervals import GAIN, Interval, interval_of
from ...metrics.scores import image_accuracy
from ...planning.spatial import corruption_specs
from ...reports.findings.figures import Words, points
from ...reports.findings.page import Answer, Check, span
from ...reports.kit.drawing import Drawing
from ...reports.kit.table import Column, Table
from ...results.local import LocalResult
from ...results.run import Run
from .claim import claims
from .evidence import Evaluation, Evidence, Need
from .runs import NORMAL, NUMBERS, PLAIN, RIVALS, data, named

FIRST, SECOND = NORMAL
BOX = {"kind": "box", "position": "centre", "height": 40, "width": 40}  # a sixth of an image
ATTACK = {"attack": "pgd-masked", "steps": 50, "step": "4/255", "eps": "16/255", "region": BOX}


def _plan(images: int) -> dict[str, Any]:
    corrupted = corruption_specs(["gaussian_noise", "gaussian_blur", "brightness"], [3], [BOX])
    return {
        "models": named(*PLAIN, *RIVALS),
        "data": data(2 * images),
        "perturbations": [*corrupted, ATTACK],
        "exhaustive": True,
    }


SPATIAL = Evaluation("spatial", _plan, lambda folder: spatial_report(Run(folder)), "spatial/index.html")


@dataclass(frozen=True)
class Lead:
    """By how much more the first network loses than the second, under one perturbation, for one seed."""

    what: str
    attack: bool
    seed: str
    losses: tuple[Interval, Interval]
    more: Interval  # of the first minus the second, image by image


@claims.register("05-localized-damage")
class Places:
    """Localized corruption and localized attack order the CNN and the transformer differently."""

    needs: ClassVar[tuple[Need, ...]] = (SPATIAL,)

    def answer(self, evidence: Evidence) -> Answer:
        """Compare each corruption with the attack, on every seed; one check for each corruption."""
        leads = _leads(evidence.local(SPATIAL))
        attacked = [lead for lead in leads if lead.attack]
        corrupted = list(dict.fromkeys(lead.what for lead in leads if not lead.attack))
        checks = [_flips([lead for lead in leads if lead.what == what], attacked) for what in corrupted]
        return Answer(tuple(checks), (_table(leads),), (_drawing(leads),))


def _leads(results: Sequence[LocalResult]) -> list[Lead]:
    counted = [result for result in results if result.goal in ("any", "accuracy")]
    of = {(result.model, result.what): _losses(result) for result in counted}
    kinds = {result.what: result.steps > 0 for result in counted}
    leads = []
    for what, attack in kinds.items():
        for number, *names in zip(NUMBERS, PLAIN, RIVALS, strict=True):
            first, second = (of[name, what] for name in names)
            leads.append(Lead(what, attack, str(number), (_mean(first), _mean(second)), _mean(first - second)))
    return leads


def _losses(result: LocalResult) -> np.ndarray:
    """Return the share of each image's pixels that were right and are not any more."""
    lost: np.ndarray = image_accuracy(result.clean["all"]) - image_accuracy(result.perturbed["all"])
    return lost


def _mean(values: np.ndarray) -> Interval:
    return interval_of(lambda weights: weights @ values / weights.sum(1), len(values), within=GAIN)


def _side(interval: Interval) -> int:
    """Tell which of the two loses more: 1 the first, -1 the second, 0 not sure."""
    return int(interval.low > 0) - int(interval.high < 0)


def _flips(corrupted: Sequence[Lead], attacked: Sequence[Lead]) -> Check:
    pairs = list(zip(corrupted, attacked, strict=True))
    turned = sum(_side(here.more) * _side(there.more) < 0 for here, there in pairs)
    shown = "; ".join(f"seed {here.seed} {span(here.more)} and {span(there.more)}" for here, there in pairs)
    return Check(
        f"{corrupted[0].what} and the attack surely order the two oppositely, on every seed",
        f"so on {turned} of {len(pairs)}; points that {FIRST} loses more than {SECOND}, corrupted and"
        f" attacked: {shown}",
        turned == len(pairs),
    )


def _table(leads: Sequence[Lead]) -> Table:
    columns = (
        Column("perturbation", "In the central box"),
        Column("seed", "Seed of both trainings"),
        Column("first", f"{FIRST} loses", "interval"),
        Column("second", f"{SECOND} loses", "interval"),
        Column("more", "Difference, paired", "interval"),
    )
    rows = tuple((lead.what, lead.seed, *lead.losses, lead.more) for lead in leads)
    note = (
        "Loss: share of all pixels of an image that were right and are not any more; mean over images, with 95 %"
        " intervals. A constant answer loses nothing."
    )
    return Table("places", "Who loses more", columns, rows, note)


def _drawing(leads: Sequence[Lead]) -> Drawing:
    rows: dict[str, dict[str, Interval]] = {}
    for lead in leads:
        rows.setdefault(lead.what, {})[f"seed {lead.seed}"] = lead.more
    caption = f"Right of the dotted line {FIRST} loses more, left of it {SECOND}; paired 95 % intervals over images."
    around = Words("places", "Who loses more", caption, f"{FIRST} loses more than {SECOND}, points")
    return points(around, rows, 0.0)
