"""What a ranking hangs on: the method that fits it, the metric that selected the images, a single class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...competition.cases import rank_correlation
from ...competition.matrices import Scored, aggressiveness, performance
from ...competition.ranking import fit, places
from ...competition.ranking_report import RankingReport
from ..kit.table import Cell, Column, Rows, Table


def methods(ranking_report: RankingReport) -> Table:
    """Return the strengths by other methods, and how far their order agrees with the first ranking."""
    by_method = {name: ranking.strengths for name, ranking in ranking_report.rankings.items()} | dict(
        ranking_report.others
    )
    main = ranking_report.main.strengths.tolist()
    columns = (
        Column("method", "Method"),
        *(Column(f"strength_{name}", name, "number") for name in ranking_report.names),
        Column("spearman", "Spearman", "number"),
        Column("kendall", "Kendall", "number"),
    )
    rows: Rows = tuple(
        (name, *map(float, strengths), *rank_correlation(main, strengths.tolist()))
        for name, strengths in by_method.items()
    )
    note = (
        "Rank correlations with the first line. Resistance is the inverse of transposed aggressiveness, "
        "so the two agree in part by construction."
    )
    return Table("methods", "By other methods", columns, rows, note if ranking_report.scored is not None else "")


def metrics(ranking_report: RankingReport) -> Table:
    """Return the rank correlation with the rankings on images that other metrics of agreement select."""
    columns = [Column("metric", "Selected by"), Column("images", "Images scored", "count")]
    for name in ranking_report.rankings:
        words = name.capitalize()
        columns += [
            Column(f"{name}_spearman", f"{words}, Spearman", "number"),
            Column(f"{name}_kendall", "Kendall", "number"),
        ]
    rows: Rows = tuple(
        (metric, len(other.images), *(value for both in ranking_report.correlation(other).values() for value in both))
        for metric, other in ranking_report.otherwise.items()
    )
    note = "Selected images without a truth do not count, so that labels made for one metric say less about another."
    return Table("metrics", "Had another metric selected the images", tuple(columns), rows, note)


def without_class(names: Sequence[str], scored: Scored, classes: Sequence[str]) -> Table:
    """Show whether one class decides: the ranks by aggressiveness when its subsets are left out."""
    columns = (Column("class", "Without"), *(Column(f"rank_{name}", name, "count") for name in names))
    rows: list[tuple[Cell, ...]] = []
    for class_ in np.unique(scored.classes).tolist():
        rest = scored.without_class(class_)
        if len(rest.images):
            ranks = places(fit(aggressiveness(performance(rest))))
            rows.append((classes[class_], *map(int, ranks)))
    return Table("without-class", "Ranks without one class", columns, tuple(rows))
