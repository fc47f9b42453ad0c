"""What a finished run says, under the names that a paper's published figures have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ..core import format_radius
from ..corruptions import corruptions
from ..corruptions.corrupt import Corrupt
from ..data import datasets
from ..metrics.intervals import Interval, interval
from ..planning.papers import Page
from ..reports.minimal.tables import groups, median_bounds, unit
from ..reports.study.assessment import Assessment, assess, metric_of
from ..reports.study.figure_names import figures, selected_figures
from ..results.local import HEADLINE, LocalResult
from ..results.local_results import read_local
from ..results.minimal import MinimalResult, attack_name, read_minimal
from ..results.run import Run
from .deviation import UNKNOWN, Measure, Ours, split_of, target_of
from .report import studies

MIOU, STEPS, ATTACKS = "cmiou", 50, 3  # of the multi-attack's figures: metric, steps and attacks of figure 5


def measured(folder: Path, page: Page) -> Ours:
    """Return the figures of a run, of one model on one dataset, in the units of its paper."""
    run = Run(folder)
    cell = run.cells[0]
    measures, images = OURS[page](run)
    return Ours(
        measures,
        images,
        model=cell.names["model"],
        data=datasets.build(cell.data),
        target=target_of(run.plan.target),
        weights=split_of(run.plan.weights),
    )


def _studied(run: Run) -> tuple[dict[str, Measure], int]:
    """Return clean figures, the worst case at each radius and that of every attack, in percent."""
    ours: dict[str, Measure] = {}
    images = 0
    for study in studies([run.folder]):
        assessment, images = assess(study), int(study.clean_answered.sum())
        ours |= {f"clean {figure}": partial(_percent, assessment.clean_interval, figure) for figure in figures()}
        if study.eps is None:
            continue
        radius = format_radius(study.eps)
        every = (*figures(), *selected_figures())
        ours |= {f"{radius} {figure}": partial(_percent, assessment.worst_interval, figure) for figure in every}
        for label in assessment.labels:
            own = label.removesuffix(f" {study.threat}")
            single = partial(_single, assessment, label)
            ours |= {f"{radius} {figure} of {own}": partial(_percent, single, figure) for figure in figures()}
    return ours, images


def _single(assessment: Assessment, label: str, figure: str) -> Interval:
    """Return a figure of one attack by itself, over the images that it answered."""
    answered = assessment.answered[assessment.labels.index(label)]
    counts = assessment.candidate(figure, label)
    return interval(counts[answered] if answered.any() else counts, metric_of(figure))


def _percent(measure: Callable[..., Interval], *given: str) -> Interval:
    share = measure(*given)
    return Interval(100 * share.value, 100 * share.low, 100 * share.high)


def _searched(run: Run) -> tuple[dict[str, Measure], int]:
    """Return the median and mean size of every attack, failures as the longest; the median has bounds."""
    names = {
        attack_name(change, change.threat): change.name for change in run.perturbations.values() if change.threat
    }  # without the target, of which a protocol has one
    ours: dict[str, Measure] = {}
    images = 0
    for (_, _, norm, _, attack), results in groups(read_minimal(run)).items():
        name, images = names.get(attack, attack), max(images, len(results))
        ours |= {f"{name} median": partial(_median, norm, results), f"{name} mean": partial(_mean, norm, results)}
    return ours, images


def _median(norm: str, results: list[MinimalResult]) -> Interval:
    sizes = sorted(unit(norm) * result.counted for result in results)
    middle = len(sizes) // 2
    median = sizes[middle] if len(sizes) % 2 else (sizes[middle - 1] + sizes[middle]) / 2
    return Interval(median, *median_bounds(sizes))


def _mean(norm: str, results: list[MinimalResult]) -> Interval:
    return Interval(sum(unit(norm) * result.counted for result in results) / len(results), *UNKNOWN)


def _damaged(run: Run) -> tuple[dict[str, Measure], int]:
    """Return accuracy in and around the half of the patches, and what several attacks on a square leave around it."""
    corrupting = (change for change in run.perturbations.values() if isinstance(change, Corrupt))
    names = {change.curve_point.what: corruptions.name(change.corruption) for change in corrupting}
    ours: dict[str, Measure] = {}  # of corruptions by name: in what way a protocol applies them goes without saying
    results = read_local(run)
    for result in results:
        if result.ratio == 0.5:
            ours["clean"] = partial(_percent, result.score_interval, HEADLINE, "all", "clean")
            for zone in ("inside", "outside"):
                done = f"{names.get(result.what, result.what)} {result.strength} {zone}"
                ours[done] = partial(_percent, result.score_interval, HEADLINE, zone)
        if result.together and result.position == "centre" and result.steps == STEPS:
            ours |= _struck(result)
    return ours, max((len(result.ids) for result in results), default=0)


def _struck(result: LocalResult) -> dict[str, Measure]:
    """Return what is left outside of an attacked square, and the share of the clean score that is lost there."""
    square, attacks = f"{result.side:g} px", f"{result.together} attack{'s' * (result.together > 1)}"
    lost = partial(_percent, result.rce_interval, MIOU, "outside")
    ours: dict[str, Measure] = {f"{square} {result.strength} rce of {attacks}": lost}
    if result.final and result.number == ATTACKS:
        ours[f"{square} clean {MIOU}"] = partial(_percent, result.score_interval, MIOU, "outside", "clean")
        ours[f"{square} {result.strength} {MIOU}"] = partial(_percent, result.score_interval, MIOU, "outside")
    return ours


OURS: dict[str, Callable[[Run], tuple[dict[str, Measure], int]]] = {
    "study": _studied,
    "minimal": _searched,
    "spatial": _damaged,
}
