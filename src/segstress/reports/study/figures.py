"""The figures of a study: what each shows and the words that go below it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ...metrics.scores import image_miou
from ..kit.drawing import CALM, HARM, INK, PALE, PERCENT, SOFT, Drawing, canvas
from ..kit.naming import in_lines, percent
from .assessment import Assessment
from .registry import drawings


@drawings.register("histogram")
def histogram(assessment: Assessment) -> Drawing | None:
    """Draw single-image mIoU, clean and worst case, with CmIoU and NmIoU marked (arXiv:2407.09150, figure 1)."""
    if not assessment.measured:
        return None
    panels = [figure for figure in ("nmiou", "nmiou_foreground") if figure in assessment.figures]
    figure, axes = canvas(3.0, len(panels))
    for panel, axis in zip(panels, axes, strict=True):
        clean, worst = image_miou(assessment.candidate(panel)), assessment.worst[panel].values
        bins = np.linspace(0, 1, 21).tolist()
        for values, colour, name in ((clean, CALM, "clean"), (worst, HARM, "worst case")):
            axis.hist(values[np.isfinite(values)], bins, color=colour, alpha=0.75, label=name)
        pooled = panel.replace("nmiou", "cmiou")
        for mark, dashes in ((panel, "-"), (pooled, "--")):
            for value, colour in ((assessment.score(mark), CALM), (assessment.worst_score(mark), HARM)):
                axis.axvline(value, color=colour, linestyle=dashes, linewidth=1.3)
        name = "every class" if panel == "nmiou" else "foreground only"
        axis.set(title=name, xlim=(0, 1), xlabel="mIoU of an image, %")
        axis.xaxis.set_major_formatter(PERCENT)
        axis.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes[0].set_ylabel("images")
    for dashes, name in (("-", "NmIoU"), ("--", "CmIoU")):
        axes[0].plot([], [], color=INK, linestyle=dashes, linewidth=1.3, label=name)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=4)
    caption = (
        "How many images have which mIoU before and after. Lines: NmIoU (solid) is the mean of these images; CmIoU"
        " (dashed) pools all pixels first. Where they differ, a few images carry the pooled figure."
    )
    return Drawing("histogram", "Not every image falls alike", caption, figure)


@drawings.register("accuracies")
def accuracies(assessment: Assessment) -> Drawing | None:
    """Draw pixel accuracy left by each perturbation, between clean and the worst case over all."""
    if not (assessment.measured and assessment.study.outcomes):
        return None
    labels = [*assessment.labels, "worst case", f"always {assessment.commonest}"]
    alone = (assessment.score("accuracy", label) for label in assessment.labels)
    values = [*alone, assessment.worst_score("accuracy"), assessment.constant("accuracy")]
    colours = [CALM, *[PALE] * (len(labels) - 3), HARM, SOFT]
    figure, (axis,) = canvas(0.7 + 0.26 * len(labels))
    bars = axis.barh(range(len(labels)), values, color=colours, height=0.7)
    axis.bar_label(bars, [percent(value) for value in values], padding=3)
    axis.set(xlim=(0, 1.08), xlabel="pixels right, %")
    axis.xaxis.set_major_formatter(PERCENT)
    _top_down(axis, labels)
    caption = (
        "Pixels still right when every image meets one perturbation only, and when each meets the one that is worst"
        f" for it. Last: a model that says {assessment.commonest} everywhere."
    )
    return Drawing("accuracies", "What each perturbation leaves", caption, figure)


@drawings.register("strongest")
def strongest(assessment: Assessment) -> Drawing | None:
    """Draw how often each perturbation is the worst of an image, alone or as the first of several equal."""
    if not (assessment.measured and assessment.study.outcomes):
        return None
    figure, axes = canvas(0.9 + 0.26 * len(assessment.labels), 2)
    spared = assessment.untried.any()
    for axis, score, name in zip(axes, ("accuracy", "nmiou"), ("by accuracy", "by mIoU"), strict=True):
        alone, first = assessment.strongest(score)
        labels = ["none (clean is lowest)", *assessment.labels[1:]]
        bars_at = range(len(labels))
        if spared:  # ties with what was not tried are not known
            bars = axis.barh(bars_at, alone + first, color=HARM, height=0.7, label="strongest of those tried")
        else:
            axis.barh(bars_at, alone, color=HARM, height=0.7, label="alone")
            bars = axis.barh(bars_at, first, left=alone, color=PALE, height=0.7, label="first of several equal")
        axis.bar_label(bars, [f"{total}" for total in alone + first], padding=3)
        axis.set(title=name, xlabel="images", xlim=(0, 1.12 * max(1, (alone + first).max())))
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        _top_down(axis, labels)
    axes[1].set_yticklabels([])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    caption = "On how many images each perturbation did the most harm. Equal results go to the first in declared order."
    if spared:
        caption += " Finished images were spared the rest of the battery; --exhaustive shows ties, and what each adds."
    return Drawing("strongest", "Which perturbation is strongest, image by image", caption, figure)


@drawings.register("size-bias")
def size_bias(assessment: Assessment) -> Drawing | None:
    """Draw the share of an object that is right against its area, clean and worst case."""
    groups = assessment.survival()
    if not assessment.measured or len(groups) < 2:
        return None
    figure, (axis,) = canvas(3.0)
    steps = np.arange(len(groups))
    for which, colour, name in ((0, CALM, "clean"), (1, HARM, "worst case")):
        shares = [pair[which].share for pair in groups]
        axis.plot(steps, shares, color=colour, marker="o", markersize=4, label=name)
    area_axis(axis, [clean.largest for clean, _ in groups], "right, %")
    figure.legend(loc="outside upper right", ncols=2)
    caption = (
        "Connected pieces of the truth in tenths by area, smallest left: the share of an object's pixels that is"
        " right, mean over objects. Where the lower curve rises, small objects suffer more."
    )
    return Drawing("size-bias", "Small objects and large ones", caption, figure)


def area_axis(axis: Axes, largest: Sequence[int], label: str) -> None:
    """Label groups of objects by the largest area in each, and shares of them in percent."""
    axis.set_xticks(range(len(largest)), [f"{area:,}" for area in largest])
    axis.set(ylim=(0, 1.03), xlabel="area of the object up to, pixels", ylabel=label)
    axis.yaxis.set_major_formatter(PERCENT)


def _top_down(axis: Axes, labels: Sequence[str]) -> None:
    """Put the first bar on top, its label beside it, and no line between."""
    axis.set_yticks(range(len(labels)), [in_lines(label) for label in labels])
    axis.invert_yaxis()
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0)
