"""Claim 7: objects lose more than the background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ...metrics.counts import HITS
from ...metrics.intervals import SHARE, Statistic, interval_of
from ...reports.findings.page import Answer, Check
from ...reports.kit.table import Cell, Column, Table
from ...reports.study.assessment import Assessment
from .claim import claims
from .evidence import Evidence, Need
from .runs import ANNEALED, BATTERY, WHOLES, matched
from .seeds import lead


@claims.register("07-foreground")
class Foreground:
    """The foreground is more vulnerable than the background."""

    needs: ClassVar[tuple[Need, ...]] = (BATTERY,)

    def answer(self, evidence: Evidence) -> Answer:
        """Compare what robust models keep of both; of the others nothing is left to compare."""
        battery = evidence.assessments(BATTERY)
        kinds = (*WHOLES, ANNEALED)
        return Answer(tuple(_check(battery, kind) for kind in kinds), (_table(battery, kinds),), ())


def kept(assessment: Assessment, objects: bool) -> Statistic:
    """Return the pixels right under the battery over those right clean, of all objects or of the background."""
    background = assessment.study.background or 0
    pairs = (assessment.counts("accuracy")[0, ..., HITS], assessment.worst["accuracy"].counts[..., HITS])
    clean, worst = (np.delete(hits, background, axis=1).sum(1) if objects else hits[:, background] for hits in pairs)

    def share(weights: np.ndarray) -> np.ndarray:
        values: np.ndarray = (weights @ worst) / (weights @ clean)
        return values

    return share


def _apart(assessment: Assessment) -> Statistic:
    background, objects = kept(assessment, objects=False), kept(assessment, objects=True)

    def more(weights: np.ndarray) -> np.ndarray:
        values: np.ndarray = background(weights) - objects(weights)
        return values

    return more


def _check(battery: Mapping[str, Assessment], kind: str) -> Check:
    models = [battery[name] for name in matched(kind)]
    more = lead([_apart(model) for model in models], len(models[0].study.ids))
    return Check(
        f"Of its pixels right on clean images, {kind} keeps a smaller share of the objects' under the battery than of"
        " the background's, on the mean of three seeds and on each",
        f"{more.words} less",
        more.sure,
    )


def _table(battery: Mapping[str, Assessment], kinds: tuple[str, ...]) -> Table:
    columns = (
        Column("model", "Model"),
        Column("background", "Background, share kept", "interval"),
        Column("objects", "Objects, share kept", "interval"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name in (name for kind in kinds for name in matched(kind)):
        assessment = battery[name]
        shares = [
            interval_of(kept(assessment, objects), len(assessment.study.ids), within=SHARE) for objects in (False, True)
        ]
        rows.append((name, *shares))
    note = (
        "Pixels right under the battery over pixels right on clean images, each image under the attack that is worst"
        " for its accuracy."
    )
    return Table("foreground", "What is left of objects and of the background", columns, tuple(rows), note)
