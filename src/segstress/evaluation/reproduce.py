"""A paper's figures beside ours: what a finished run says, under the names that the published figures have."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ..core import BadInput, format_radius
from ..data import datasets
from ..metrics.intervals import Interval, interval
from ..planning.papers import Page, Paper
from ..planning.published import Published, PublishedModel
from ..reports.kit.table import Column, Rows, Table
from ..reports.minimal.tables import groups, median_bounds, unit
from ..reports.study.assessment import Assessment, assess, metric_of
from ..reports.study.figure_names import figures, selected_figures
from ..results.local import HEADLINE, LocalResult
from ..results.local_results import read_local
from ..results.minimal import MinimalResult, attack_name, read_minimal
from ..results.run import Run
from .report import studies

RANKING = "report/ranking.json"  # of a competition
UNKNOWN = (math.nan, math.nan)  # bounds of what has none
MIOU, STEPS, ATTACKS = "cmiou", 50, 3  # of the multi-attack's figures: metric, steps and attacks of figure 5
Measure = Callable[[], Interval]  # made when it is asked for: bounds take time


@dataclass(frozen=True)
class Ours:
    """What a run says, and of what."""

    figures: Mapping[str, Measure]
    images: int = 0  # 0 = not counted
    data: str = ""  # label of the dataset
    kinds: frozenset[str] = field(default_factory=frozenset)  # of its datasets, such as voc-512


def compare(paper: Published, model: PublishedModel, ours: Ours, protocol: Paper | None = None) -> Table:
    """Tabulate each published figure, ours and how far ours is from it; empty where the run has none."""
    columns = (
        Column("figure", "Figure"),
        Column("published", "Published", "number"),
        Column("source", "Source"),
        Column("ours", "Ours", "number"),
        Column("low", "From", "number"),
        Column("high", "To", "number"),
        Column("deviation", "Deviation", "number"),
        Column("images", "Images", "count"),
        Column("data", "Data"),
    )
    rows: Rows = tuple(_row(ours, *figure) for figure in paper.figures(model))
    note = " ".join(["Deviation: ours minus published; from, to: 95 % interval of ours.", *_unlike(ours, protocol)])
    return Table("published", paper.about, columns, rows, note)


def _row(ours: Ours, name: str, value: float, source: str) -> tuple[str | float | int, ...]:
    own = ours.figures[name]() if name in ours.figures else Interval(math.nan, *UNKNOWN)
    return name, value, source, own.value, own.low, own.high, own.value - value, ours.images, ours.data


def _unlike(ours: Ours, protocol: Paper | None) -> Iterable[str]:
    """Say what makes a deviation tell little."""
    if protocol is None:
        return
    kind = datasets.read(protocol.plan["data"])["kind"]
    if ours.kinds != {kind}:
        yield f"Another dataset: the protocol has {kind}, ours are of {ours.data}; deviations do not tell of the paper."
    if ours.images < protocol.images:
        yield f"Fewer images: {ours.images} of the protocol's {protocol.images}."


def measured(folder: Path, page: Page) -> Ours:
    """Return the figures of a run in the units of its paper."""
    run = Run(folder)
    kinds = frozenset(str(cell.data["kind"]) for cell in run.cells)
    labels = ", ".join(dict.fromkeys(cell.names["data"] for cell in run.cells))
    measures, images = OURS[page](run)
    return Ours(measures, images, labels, kinds)


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
    ours: dict[str, Measure] = {}
    results = read_local(run)
    for result in results:
        if result.ratio == 0.5:
            ours["clean"] = partial(_percent, result.score_interval, HEADLINE, "all", "clean")
            for zone in ("inside", "outside"):
                done = f"{result.what} {result.strength} {zone}"
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


def places(folder: Path) -> Ours:
    """Return the places of a finished competition's models, by aggressiveness and resistance."""
    path = folder / RANKING
    if not path.is_file():
        raise BadInput(
            f"{path} does not exist; expected a finished competition of the paper's models under the paper's names:"
            " segstress mad index, mad predict, mad compare, mad select and mad rank, then --out <its folder>"
        )
    ranking = json.loads(path.read_text())
    ranks: dict[str, Measure] = {
        f"{measure} {model}": partial(Interval, float(figures["rank"]), *map(float, figures.get("band", UNKNOWN)))
        for measure, by_model in ranking["rankings"].items()
        for model, figures in by_model.items()
    }
    return Ours(ranks, int(ranking.get("images", 0)))
