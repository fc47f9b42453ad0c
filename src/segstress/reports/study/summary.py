"""The figures of studies as plain data: what `segstress report --json` prints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ...metrics.intervals import Interval
from ...results.study import Outcome, Study
from ..kit.table import Cell, Table
from .assessment import CLEAN, Assessment, assess
from .caveats import caveats, first_look
from .completeness import complete, left_out, unanswered, worst_range
from .completeness import warnings as incomplete
from .convergence import descents
from .figure_names import ZONES, declaration_of, figures, headline, read_name, selected_figures
from .floor_tables import MEANING, floor_classes, floor_sizes, floors
from .main_tables import leave_out
from .pixels_right import pixels_right
from .rivals import pairs, rivals
from .sparing import slack

PASSES = ("forwards", "backwards")


def summary(studies: Iterable[Study]) -> dict[str, Any]:
    """Return clean, perturbed and worst-case figures of every study, with their definitions; null where undefined."""
    assessments = [assess(study) for study in studies]
    return {
        "runs": [_run(assessment) for assessment in assessments],
        "pairs": _records(pairs(rivals(assessments))),
    }


def _run(assessment: Assessment) -> dict[str, Any]:
    study = assessment.study
    return {
        "model": study.model,
        "data": study.data,
        "battery": study.battery or None,
        "threat": study.threat or None,
        "eps": None if study.eps is None else _number(study.eps),
        "headline": list(headline()),
        "clean": _figures(assessment, CLEAN),
        "perturbations": {outcome.label: _perturbation(assessment, outcome) for outcome in study.outcomes},
        "worst_case": _worst_case(assessment),
        "worst_case_slack": {
            figure: _number(slack(assessment, figure)) for figure in (*figures(), *selected_figures())
        },
        "pixels_right": {record.pop("image"): record for record in _records(pixels_right(assessment))},
        "definitions": _definitions(assessment),
        "constant": {"class": assessment.commonest, **{name: _number(assessment.constant(name)) for name in figures()}},
        "leave_one_out": {record.pop("perturbation"): record for record in _records(leave_out(assessment))},
        "convergence": {
            descent.label: dict(zip(descent.passes, descent.at(descent.passes).tolist(), strict=True))
            for descent in descents(assessment)
        },
        "alone": _alone(assessment),
        "complete": complete(assessment),
        "unanswered": int(unanswered(assessment).sum()),
        "left_out": int(left_out(assessment).sum()),
        "worst_case_range": {
            figure: [_number(end) for end in worst_range(assessment, figure)]
            for figure in (*figures(), *selected_figures())
        },
        "first_look": first_look(study) or None,
        "checkup": list(study.checkup),
        "alarms": list(incomplete(assessment)),
        "damage": list(study.damage),
        "seal": study.seal or None,
        "environment_seal": study.environment_seal or None,
        "caveats": caveats(assessment),
    }


def _alone(assessment: Assessment) -> dict[str, Any]:
    """Return what attacking objects and pixels one by one found; empty where that was not asked for."""
    if not assessment.study.alone:
        return {}
    passes = {
        alone.outcome.label: dict(zip(PASSES, alone.outcome.rows.passes(), strict=True))
        for alone in assessment.study.alone
    }
    return {
        **{record.pop("figure"): record for record in _records(floors(assessment))},
        "by_class": _records(floor_classes(assessment)),
        "by_size": _records(floor_sizes(assessment)),
        "passes": passes,
        "definition": MEANING,
    }


def _figures(assessment: Assessment, label: str) -> dict[str, float | None]:
    return {figure: _number(assessment.score(figure, label)) for figure in figures()}


def _perturbation(assessment: Assessment, outcome: Outcome) -> dict[str, Any]:
    forwards, backwards = outcome.rows.passes()
    return {
        **_figures(assessment, outcome.label),
        "forwards": forwards,
        "backwards": backwards,
        "images": int(outcome.answered.sum()),
        "errors": len(outcome.rows.images("error")),
    }


def _worst_case(assessment: Assessment) -> dict[str, float | None]:
    values = {figure: assessment.worst_score(figure) for figure in (*figures(), *selected_figures())}
    values |= {_bound(zone): assessment.bound(zone) for zone in ZONES}
    return {figure: _number(value) for figure, value in values.items()}


def _definitions(assessment: Assessment) -> dict[str, str]:
    texts = {figure: assessment.definition(figure) for figure in figures()}
    pooled = [figure for figure in figures() if declaration_of(figure).pooled]
    for plain, selected in zip(pooled, selected_figures(), strict=True):
        rules = texts[plain].partition(":")[0]
        score = "mIoU" if read_name(plain).metric == "cmiou" else "score"
        texts[plain] += "; its worst case is the lowest that a greedy search over perturbations per image finds"
        texts[selected] = f"{rules}: worst case when each image meets the perturbation with its lowest {score}"
        if read_name(plain).metric == "cmiou":
            texts[_bound(read_name(plain).zone)] = f"{rules}: no choice of perturbations per image can be lower"
    return texts


def _bound(zone: str) -> str:
    return "cmiou_bound" if zone == "all" else f"cmiou_bound_{zone}"


def _records(table: Table | None) -> list[dict[str, Any]]:
    """Return the rows of a table, each by the keys of its columns."""
    if table is None:
        return []
    keys = [column.key for column in table.columns]
    return [dict(zip(keys, map(_value, row), strict=True)) for row in table.rows]


def _value(cell: Cell) -> Any:
    if isinstance(cell, Interval):
        return {"value": _number(cell.value), "low": _number(cell.low), "high": _number(cell.high), "level": cell.level}
    return _number(cell) if isinstance(cell, float) else cell


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
