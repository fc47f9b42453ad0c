"""The first screen of localized damage: where damage to a part hurts the rest most, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...results.local import HEADLINE, NOTHING, LocalResult
from ...results.record import RunRecord
from ..kit.naming import percent, plural
from ..kit.verdict import Point, bounds, completeness, cost, sealed


def headline(results: Sequence[LocalResult]) -> str:
    """Say in one sentence where damage to a part hurts the rest most."""
    worst, zone = _worst(results)
    if math.isnan(worst.rce(HEADLINE, zone)):
        return "Nothing could be measured: no image has both a prediction and a truth."
    lost = percent(worst.rce(HEADLINE, zone))
    aimed = _reached(results, zone)
    return f"{worst.model} loses up to {lost} % of its class-mean accuracy {WHERE[zone]} ({_short(worst)}){aimed}."


WHERE = {"outside": "outside of what was damaged", "all": "on the whole image"}


def verdict(results: Sequence[LocalResult]) -> str:
    """Say in one paragraph what each model loses at worst, with intervals, and what it had on clean images."""
    sentences = []
    for model in dict.fromkeys(result.model for result in results):
        own = [result for result in results if result.model == model]
        worst, zone = _worst(own)
        clean = worst.score_interval(HEADLINE, "all", "clean")
        if math.isnan(clean.value):
            sentences.append(f"Nothing could be measured of {model}.")
            continue
        inside = worst.rce_interval(HEADLINE, "inside") if zone == "outside" else NOTHING
        there = "" if math.isnan(inside.value) else f", {bounds(inside)} inside of it"
        sentences.append(
            f"{model} has {bounds(clean)} of class-mean accuracy on clean images; at worst it loses"
            f" {bounds(worst.rce_interval(HEADLINE, zone))} of that {WHERE[zone]}{there}, under {_short(worst)}"
            f" ({worst.where})."
        )
    return " ".join(sentences)


def _reached(results: Sequence[LocalResult], zone: str) -> str:
    """Say how many pixels of a zone were brought to the target at most, where there is one."""
    aimed = [result for result in results if not math.isnan(result.score("accuracy", zone, "wanted"))]
    if not aimed:
        return ""
    most = max(aimed, key=lambda result: result.score("accuracy", zone, "wanted"))
    clean, then = (percent(most.score("accuracy", zone, state)) for state in ("wanted_clean", "wanted"))
    return f"; up to {then} % of the pixels there are at the target ({most.model}; clean: {clean} %)"


def _short(result: LocalResult) -> str:
    """Name what was done without its settings, which the tables have."""
    return f"{result.what.partition('(')[0]} {result.strength}"


def _worst(results: Sequence[LocalResult]) -> tuple[LocalResult, str]:
    """Return the result that lost most outside of its region, or on whole images where none has an outside."""
    outside = [result for result in results if not math.isnan(result.rce(HEADLINE, "outside"))]
    zone, counted = ("outside", outside) if outside else ("all", list(results))
    return max(counted, key=lambda result: _known(result.rce(HEADLINE, zone))), zone


def _known(lost: float) -> float:
    return -math.inf if math.isnan(lost) else lost


def points(results: Sequence[LocalResult], record: RunRecord | None, alarms: int) -> Iterator[Point]:
    """Yield what was looked at, whether it is complete, the seal and the cost."""
    regions = len({result.where for result in results})
    images = max(len(result.clean["all"]) for result in results)
    looked = (plural(images, "image"), plural(len(results), "result"), plural(regions, "region"))
    yield Point("Looked at", ", ".join(looked), good=images > 1)
    yield completeness(alarms)
    if any(result.steps for result in results):
        yield Point(
            "Bounds", "every attack figure is an upper bound on robustness: a longer search may lose more", True
        )
    if record is not None:
        yield sealed(record.seal)
        if record.forwards:
            yield cost(record.forwards, record.backwards)
