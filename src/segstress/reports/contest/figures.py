"""The figures of a competition: intervals, heat maps, bars of qualities, the boxes of transfer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes

from ...competition.cases import BINS, quality_bins, transfer
from ...competition.ranking_report import RankingReport
from ..kit.drawing import CALM, HARM, INK, PALE, PAPER, PERCENT, Drawing, canvas

SLICES = (HARM, PALE, "#d8c9a6", "#9dbcd8", CALM)  # from failed to right
LINE = 0.32  # inches for each model


def strengths(ranking_report: RankingReport) -> Drawing:
    """Draw the strength of every model with its interval."""
    figure, axes = canvas(1.1 + LINE * len(ranking_report.names), len(ranking_report.rankings))
    order = ranking_report.order
    lines = np.arange(len(order))
    for (name, ranking), axis in zip(ranking_report.rankings.items(), axes, strict=True):
        middle = ranking.strengths[order]
        low, high = (np.maximum(0, side) for side in (middle - ranking.low[order], ranking.high[order] - middle))
        axis.errorbar(middle, lines, xerr=[low, high], fmt="o", color=CALM, ecolor=INK, capsize=3, linewidth=1)
        axis.set(title=name, yticks=lines, xlabel="strength")
        axis.set_yticklabels([ranking_report.names[model] for model in order] if axis is axes[0] else [])
        axis.invert_yaxis()
    caption = (
        "Maximum-likelihood strengths with 95 % bootstrap intervals. "
        "Whether two models differ is told by the share of draws, not by overlap."
    )
    return Drawing("strengths", "Strengths", caption, figure)


def heat_maps(ranking_report: RankingReport) -> Drawing:
    """Draw the first two matrices, row against column (figures 9 and 10 of the paper)."""
    matrices = list(ranking_report.matrices.items())[:2]
    figure, axes = canvas(1.6 + 0.42 * len(ranking_report.names), len(matrices))
    for (name, values), axis in zip(matrices, axes, strict=True):
        shown = np.log(np.where(values > 0, values, np.nan)) if ranking_report.scored is not None else values
        largest = float(np.nanmax(np.abs(shown), initial=1e-9))
        axis.imshow(shown, cmap="RdBu", vmin=-largest, vmax=largest)
        _write_values(axis, values, np.abs(shown) > 0.6 * largest)
        ticks = np.arange(len(ranking_report.names))
        axis.set(title=name, xticks=ticks, yticks=ticks)
        axis.set_xticklabels(ranking_report.names, rotation=40, ha="right")
        axis.set_yticklabels(ranking_report.names if axis is axes[0] else [])
        axis.spines[:].set_visible(False)
    words = (
        "Above 1 (blue) the row is better than the column"
        if ranking_report.scored is not None
        else "Votes won by the row"
    )
    return Drawing("matrices", "Row against column", f"{words} on the images selected for the pair.", figure)


def _write_values(axis: Axes, values: np.ndarray, dark: np.ndarray) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value) and row != column:
            colour = PAPER if dark[row, column] else "#111418"  # on the cell's own colour, whatever the page's
            axis.text(
                column,
                row,
                f"{value:.2f}" if value % 1 else f"{value:.0f}",
                ha="center",
                va="center",
                fontsize=7,
                color=colour,
            )


def qualities(ranking_report: RankingReport) -> Drawing | None:
    """Draw how good each model's predictions are on the selected images (the paper's figure 6, model by model)."""
    if ranking_report.quality is None:
        return None
    order = ranking_report.order
    counts = np.array([quality_bins(ranking_report.quality[:, [model]]) for model in order], dtype=float)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    figure, (axis,) = canvas(1.1 + LINE * len(order))
    lines, left = np.arange(len(order)), np.zeros(len(order))
    for (low, high), share, colour in zip(pairwise(BINS), shares.T, SLICES, strict=True):
        axis.barh(lines, share, left=left, height=0.7, color=colour, label=f"{low:.1f} to {high:.1f}")
        left = left + share
    axis.set(yticks=lines, xlabel="share of the selected images, %", xlim=(0, 1))
    axis.set_yticklabels([ranking_report.names[model] for model in order])
    axis.xaxis.set_major_formatter(PERCENT)
    axis.invert_yaxis()
    figure.legend(loc="outside upper right", ncols=len(SLICES), title="mIoU")
    caption = "mIoU of every model on every selected image, against the truth."
    return Drawing("qualities", "Quality on the selected images", caption, figure)


def boxes(ranking_report: RankingReport) -> Drawing | None:
    """Draw each model on the images selected with it and on those selected by other pairs (figure 7)."""
    if ranking_report.quality is None or ranking_report.scored is None:
        return None
    sides = zip(*transfer(ranking_report.quality, ranking_report.scored), strict=True)
    figure, (axis,) = canvas(3.2)
    for side, (values, colour, words) in enumerate(
        zip(sides, (HARM, CALM), ("selected with it", "selected by others"), strict=True)
    ):
        kept = [scores[np.isfinite(scores)] for scores in values]
        where = np.arange(len(kept)) + (side - 0.5) * 0.34
        drawn = axis.boxplot(kept, positions=where.tolist(), widths=0.28, patch_artist=True, manage_ticks=False)
        for box in drawn["boxes"]:
            box.set(facecolor=colour, edgecolor=INK)
        for line in (*drawn["medians"], *drawn["whiskers"], *drawn["caps"]):
            line.set(color=INK)
        axis.plot([], [], color=colour, linewidth=6, label=words)
    axis.set(xticks=np.arange(len(ranking_report.names)), ylabel="mIoU")
    axis.set_xticklabels(ranking_report.names, rotation=20, ha="right")
    axis.legend()
    return Drawing(
        "transfer",
        "Do failures transfer?",
        "Where the two boxes are alike, images that fool one model fool it no more than others.",
        figure,
    )


DRAWINGS = {"strengths": strengths, "matrices": heat_maps, "qualities": qualities, "transfer": boxes}
