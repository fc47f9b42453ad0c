"""Where each table and figure of a study stands in the page; what is not named here comes where OTHERS says."""

from __future__ import annotations

from collections.abc import Iterator

from ..kit.page import PagePart

OTHERS = "others"
LAYOUT: dict[str, tuple[str, ...]] = {  # chapter -> its parts, each `table name` or `figure name`
    "clean and robust": ("table robust",),
    "damage": ("figure histogram", "figure accuracies", "table perturbations"),
    "attacks": ("figure strongest", "table leave_out", "figure convergence", "table convergence"),
    "alone": ("table floors",),
    "objects and pixels": (
        "figure floor-sizes",
        "table floor_sizes",
        "table floor_classes",
        "figure floor-maps",
        "figure floor-erased",
    ),
    "pictures": ("figure under-all", "figure size-bias"),
    OTHERS: (),
    "numbers": ("table pixels_right", "table sizes", "table classes", "table images", "table attempts"),
    "errors": ("table errors",),
}


def chapter(part: PagePart, name: str) -> Iterator[tuple[str, str]]:
    """Sort and name of what a chapter shows, in order; others in the order in which they were registered."""
    here = [*(f"figure {drawing}" for drawing in part.drawings), *(f"table {table}" for table in part.tables)]
    named = {entry for entries in LAYOUT.values() for entry in entries}
    entries = [entry for entry in here if entry not in named] if name == OTHERS else LAYOUT[name]
    for entry in entries:
        if entry in here:
            sort, _, item = entry.partition(" ")
            yield sort, item
