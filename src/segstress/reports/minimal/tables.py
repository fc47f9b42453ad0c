"""How small a change breaks a model: what was found, image by image, summed up in tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...results.minimal import Find
from ..kit.table import Column, Rows, Table

BEST = "best of all"  # the smallest success of any attack, image by image
COSTS = ("forwards", "backwards", "seconds")
SETTING = tuple(Column(key, key.capitalize()) for key in ("model", "data", "norm", "threshold"))

Setting = tuple[str, str, str, str]  # model, data, norm, threshold
Group = tuple[str, str, str, str, str]  # and attack


def unit(norm: str) -> int:
    """What sizes are multiplied by for people: linf is read in 1/255."""
    return 255 if norm == "linf" else 1


def by_setting(finds: Sequence[Find]) -> dict[Setting, dict[str, list[Find]]]:
    """Sort by model, data, norm and threshold, the strictest first; by attack, and the best of all of several last."""
    settings: dict[Setting, dict[str, list[Find]]] = {}
    for find in finds:
        attacks = settings.setdefault((find.model, find.data, find.norm, find.threshold), {})
        attacks.setdefault(find.attack, []).append(find)
    for attacks in settings.values():
        if len(attacks) > 1:
            attacks[BEST] = [
                replace(best, attack=BEST, **{part: sum(getattr(find, part) for find in tried) for part in COSTS})
                for best, tried in _bests(attacks)
            ]
    return dict(sorted(settings.items(), key=lambda item: (*item[0][:3], -float(item[0][3].rstrip("%")))))


def groups(finds: Sequence[Find]) -> dict[Group, list[Find]]:
    """Sort the same way, without nesting."""
    settings = by_setting(finds)
    return {(*setting, attack): members for setting in settings for attack, members in settings[setting].items()}


def _bests(attacks: dict[str, list[Find]]) -> list[tuple[Find, list[Find]]]:
    """The smallest find of each image, and all that were tried on it."""
    tried: dict[str, list[Find]] = {}
    for find in (find for members in attacks.values() for find in members):
        tried.setdefault(find.image, []).append(find)
    return [(min(several, key=lambda find: (find.counted, -find.won)), several) for several in tried.values()]


def table(finds: Sequence[Find]) -> Table:
    """One line for each attack: failures, sizes with failures as the longest delta, sizes of successes, cost."""
    columns = (
        *SETTING,
        Column("attack", "Attack"),
        Column("images", "Images", "count"),
        Column("unsuccessful", "Failed", "share"),
        Column("median", "Median size", "number"),
        Column("mean", "Mean size", "number"),
        Column("median_successes", "Median success", "number"),
        Column("mean_successes", "Mean success", "number"),
        Column("median_raw", "Before polish", "number"),
        Column("success_8bit", "Broken at 8 bits", "share"),
        Column("forwards", "Forwards an image", "number", hidden=True),
        Column("backwards", "Backwards an image", "number", hidden=True),
    )
    rows: Rows = tuple((*group, *_figures(members)) for group, members in groups(finds).items())
    note = (
        "Linf sizes are in units of 1/255, others as they are; l0 counts changed pixels. Where no delta did enough,"
        " median and mean count the longest delta that the box allows (linf: 255/255). Sizes are upper bounds on the"
        " true distance."
    )
    return Table("minimal", "How small a change breaks the model", columns, rows, note)


def _figures(finds: Sequence[Find]) -> tuple[int | float, ...]:
    scale = unit(finds[0].norm)
    counted = [scale * find.counted for find in finds]
    successes = [scale * find.size for find in finds if find.success] or [math.nan]
    raw = [scale * (find.raw_size if find.success else find.longest) for find in finds]
    return (
        len(finds),
        float(np.mean([not find.success for find in finds])),
        float(np.median(counted)),
        float(np.mean(counted)),
        float(np.median(successes)),
        float(np.mean(successes)),
        float(np.median(raw)),
        float(np.mean([find.success_8bit for find in finds])),
        float(np.mean([find.forwards for find in finds])),
        float(np.mean([find.backwards for find in finds])),
    )


def costs(finds: Sequence[Find]) -> Table:
    """What every attack cost an image, wherever it was run: mean and most."""
    passes: dict[str, list[Find]] = {}
    for find in finds:
        passes.setdefault(find.attack, []).append(find)
    columns = (
        Column("attack", "Attack"),
        Column("forwards", "Forwards an image", "number"),
        Column("backwards", "Backwards an image", "number"),
        Column("seconds", "Seconds an image", "number"),
        Column("most_forwards", "Most forwards", "count"),
        Column("most_backwards", "Most backwards", "count"),
    )
    rows: Rows = tuple(
        (
            attack,
            *(float(np.mean([getattr(find, part) for find in members])) for part in COSTS),
            *(max(getattr(find, part) for find in members) for part in ("forwards", "backwards")),
        )
        for attack, members in passes.items()
    )
    note = (
        "One call of the model on one image is one forward; those that polish the smallest delta are among them."
        " Seconds are wall time on the machine of the run, with whatever else it did."
    )
    return Table("minimal-costs", "What the search cost", columns, rows, note)


def smallest(finds: Sequence[Find]) -> list[Find]:
    """The best find of each image, model, dataset, norm and threshold, under the name of its attack."""
    smallest_finds = []
    for attacks in by_setting(finds).values():
        attacks.pop(BEST, None)
        smallest_finds += [best for best, *_ in _bests(attacks)]
    return smallest_finds


def best(finds: Sequence[Find]) -> Table:
    """One line for each image: its smallest change."""
    table = listing(smallest(finds), "minimal-best", "The smallest change of every image")
    return table.hiding(("raw_size", "forwards", "backwards", "seconds"))


def every(finds: Sequence[Find]) -> Table:
    """One line for each image and attack."""
    return replace(listing(finds, "minimal-finds", "Every image under every attack"), folded=True)


def listing(finds: Sequence[Find], name: str, title: str) -> Table:
    """List results one by one."""
    columns = (
        *SETTING,
        Column("image", "Image"),
        Column("attack", "Attack"),
        Column("success", "Success"),
        *(
            Column(key, key.replace("_", " ").capitalize(), "number")
            for key in ("size", "raw_size", "linf", "l2", "l1")
        ),
        Column("won", "Pixels won", "share"),
        Column("success_8bit", "Success at 8 bits"),
        Column("forwards", "Forwards", "count"),
        Column("backwards", "Backwards", "count"),
        Column("seconds", "Seconds", "number"),
    )
    rows: Rows = tuple(
        (
            *(find.model, find.data, find.norm, find.threshold, find.image, find.attack),
            "yes" if find.success else "no",
            *(unit(find.norm) * find.size, unit(find.norm) * find.raw_size, 255 * find.linf, find.l2, find.l1),
            *(find.won, "yes" if find.success_8bit else "no", find.forwards, find.backwards, find.seconds),
        )
        for find in finds
    )
    note = "Linf in units of 1/255, also as a size; raw: before polish; won: by a fresh forward pass of the model."
    return Table(name, title, columns, rows, note)


TABLES = {"minimal": table, "minimal-costs": costs, "minimal-best": best, "minimal-finds": every}
