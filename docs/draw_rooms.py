"""Draw docs/rooms.svg, or another file, from the import graph: python docs/draw_rooms.py [file].

Rooms stand in the layers of the lint (pyproject.toml). A line says that one room imports the other; where it imports
what a room between them imports as well, the line is left out.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import grimp
import matplotlib as mpl
from matplotlib.figure import Figure

PROJECT = Path(__file__).parents[1]
ABOUT = {
    "cli": "parse, call, print",
    "api": "for Python users",
    "testing": "contract suites",
    "demo": "claims, zoo",
    "contests": "walk 3: MAD",
    "fitting": "walk 4: training",
    "evaluation": "walks 1 and 2",
    "doctor": "what speaks against a figure",
    "reports": "pages, tables, figures",
    "results": "the one reader of a run",
    "planning": "plans, batteries, cost",
    "runtime": "store, workers",
    "training": "recipes, loop",
    "competition": "disagreement, ranking",
    "voting": "the blind page",
    "attacks": "search for a delta",
    "corruptions": "damage by nature",
    "data": "images",
    "models": "networks",
    "metrics": "counts, scores",
    "core": "the words all speak",
}


def layers() -> list[list[str]]:
    """The rooms of each layer, from the top."""
    contract = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    return [re.findall(r"\w+", layer) for layer in contract["layers"]]


def imports() -> set[tuple[str, str]]:
    """Which room imports which, without lines that others imply."""
    graph = grimp.build_graph("segstress", include_external_packages=False)
    pairs = set()
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            ends = [name.split(".")[1] for name in (module, other) if name.count(".")]
            if len(ends) == 2 and ends[0] != ends[1]:
                pairs.add((ends[0], ends[1]))
    reach = {a: {b for x, b in pairs if x == a} for a, _ in pairs}
    return {(a, b) for a, b in pairs if not any(b in reach.get(c, ()) for c in reach[a] - {b})}


def draw() -> Figure:
    """Layers of boxes, with the lines between them."""
    figure = Figure(figsize=(9, 9.6))
    axis = figure.add_axes((0.01, 0.01, 0.98, 0.98))
    rows, centre = layers(), {}
    for level, rooms in enumerate(rows):
        for number, room in enumerate(rooms):
            centre[room] = ((number + 0.5) / len(rooms), -level)
    for above, below in sorted(imports()):
        (x0, y0), (x1, y1) = centre[above], centre[below]
        axis.annotate(
            "",
            (x1, y1 + 0.3),
            (x0, y0 - 0.3),
            arrowprops={"arrowstyle": "-|>", "color": "#8a8f98", "lw": 0.9, "shrinkA": 0, "shrinkB": 0},
        )
    for room, (x, y) in centre.items():
        box = {"boxstyle": "round,pad=0.5", "fc": "#f4f1ea", "ec": "#3b3f45", "lw": 0.9}
        axis.text(x, y, f"{room}\n{ABOUT[room]}", ha="center", va="center", fontsize=8.5, bbox=box)
    axis.set(xlim=(0, 1), ylim=(-len(rows) + 0.4, 0.6))
    axis.axis("off")
    return figure


if __name__ == "__main__":
    mpl.rcParams.update({"svg.hashsalt": "segstress", "svg.fonttype": "none", "font.family": "sans-serif"})
    path = sys.argv[1] if sys.argv[1:] else PROJECT / "docs" / "rooms.svg"
    draw().savefig(path, format="svg", metadata={"Date": None})
