"""Published figures beside ours: how far apart they are, and what makes that tell little."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core import Spec, Target, Threat, targets
from ..data import Dataset, datasets
from ..data.dataset import APART
from ..metrics.intervals import Interval
from ..planning.papers import Paper
from ..planning.published import Published
from ..reports.kit.table import Column, Rows, Table

UNKNOWN = (math.nan, math.nan)  # bounds of what has none
NONE = Interval(math.nan, *UNKNOWN)
Measure = Callable[[], Interval]  # made when it is asked for: bounds take time


@dataclass(frozen=True)
class Ours:
    """What a run says, and of what."""

    figures: Mapping[str, Measure]
    images: int = 0  # 0 = not counted
    model: str = ""  # label of the one that was run
    models: Mapping[str, str] = field(default_factory=dict)  # figure -> label, where figures are of several models
    data: Dataset | None = None
    target: Target | None = None
    weights: Dataset | None = None  # training split that balances classes
    notes: tuple[str, ...] = ()  # on what it was taken from

    def value(self, figure: str) -> Interval:
        """Return a figure with its bounds, NaN where there is none."""
        return self.figures[figure]() if figure in self.figures else NONE


def compare(paper: Published, name: str, ours: Ours, protocol: Paper | None = None) -> Table:
    """Tabulate each figure of a published model, ours and how far ours is from it; empty where the run has none."""
    columns = (
        Column("figure", "Figure"),
        Column("model", "Model", hidden=True),
        Column("published", "Published", "number"),
        Column("source", "Source"),
        Column("ours_model", "Our model", hidden=True),
        Column("ours", "Ours", "number"),
        Column("low", "From", "number"),
        Column("high", "To", "number"),
        Column("deviation", "Deviation", "number"),
        Column("images", "Images", "count"),
        Column("data", "Data"),
    )
    label = ours.data.label if ours.data else ""
    printed = list(paper.figures(paper.of(name)))
    own = [ours.value(figure) for figure, _, _ in printed]
    rows: Rows = tuple(
        (
            *(figure, name, value, source, ours.models.get(figure, ours.model)),
            *(mine.value, mine.low, mine.high, mine.value - value, ours.images, label),
        )
        for (figure, value, source), mine in zip(printed, own, strict=True)
    )
    title = f"{paper.about}; {name}{ours.model and f', beside ours of {ours.model}'}"
    return Table("published", title, columns, rows, " ".join(_notes(own, ours, protocol)))


def _notes(own: list[Interval], ours: Ours, protocol: Paper | None) -> Iterator[str]:
    """Say how to read it, and what makes a deviation tell little."""
    yield "Deviation: ours minus published; from, to: 95 % interval of ours."
    if lacking := sum(math.isnan(mine.value) for mine in own):
        yield f"{lacking} of {len(own)} figures have no counterpart."
    yield from ours.notes
    if protocol is not None:
        yield from _unlike(ours, protocol)


def _unlike(ours: Ours, protocol: Paper) -> Iterator[str]:
    """Say in what the run is not what the protocol asks for."""
    wanted = datasets.build(protocol.plan["data"])
    if ours.data is not None and _rules(wanted) != _rules(ours.data):
        yield f"Another dataset: {_told_apart(wanted, ours.data)}; deviations do not tell of the paper."
    if ours.images < protocol.images:
        yield f"Fewer images: {ours.images} of the protocol's {protocol.images}."
    aim = target_of(protocol.plan.get("target"))
    if aim is not None and ours.target is not None:
        yield from _aimed_at(ours.target, aim, protocol.stand_in)
    split = split_of(protocol.plan.get("weights"))
    if split is not None and ours.weights is not None and _rules(split) != _rules(ours.weights):
        yield f"Other class weights: {_told_apart(split, ours.weights)}."


def _aimed_at(target: Target, aim: Target, published: str) -> Iterator[str]:
    """Say what an attack's target has to do with the paper's; the protocol's own may be a stand-in for it."""
    same = _rules(target) == _rules(aim)
    if published and same:
        yield f"The target, {target.label}, stands in for {published}."
    elif published and _rules(target)["kind"] == "map":
        yield f"The target, {target.label}, is the paper's only if it was made of {published}."
    elif not same:
        yield f"Another target: {_told_apart(aim, target)}."


def target_of(spec: Any) -> Target | None:
    """Return what targeted attacks of a plan want."""
    return None if spec is None else Threat(target=spec).target


def split_of(spec: Spec | None) -> Dataset | None:
    """Return the split by which a plan weighs classes."""
    return None if spec is None else datasets.build(spec)


def _rules(item: Dataset | Target) -> Any:
    """Return the settings of a dataset or target as plain data, without where files lie."""
    return _placeless(datasets.spec(item) if isinstance(item, Dataset) else targets.spec(item))


def _placeless(plain: Any) -> Any:
    if isinstance(plain, Mapping):
        return {key: _placeless(value) for key, value in plain.items() if key not in APART}
    return plain


def _told_apart(theirs: Dataset | Target, ours: Dataset | Target) -> str:
    """Name both, with the settings in which two of a kind differ."""
    named = [_described(theirs, ours), _described(ours, theirs)]
    return "the protocol has {}, ours has {}".format(*named)


def _described(item: Dataset | Target, other: Dataset | Target) -> str:
    rules, others = _rules(item), _rules(other)
    if rules["kind"] != others["kind"]:
        return item.label
    return f"{item.label} ({', '.join(f'{key}={value}' for key, value in rules.items() if value != others[key])})"
