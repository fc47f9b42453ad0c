"""The figures of a study: what each shows and the words that go below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ...metrics.scores import image_miou
from ..kit.drawing import CALM, HARM, INK, PALE, SOFT, STYLE, Drawing, canvas
from ..kit.naming import briefly, percent
from .assessment import Assessment

PERCENT = FuncFormatter(lambda share, _: f"{100 * share:.3g}")  # 2.5 beside 5, where the whole axis is short


def drawings(judged: Assessment) -> list[Drawing]:
    """Every figure that the study has data for."""
    with mpl.rc_context(STYLE):
        return list(_drawings(judged))


def _drawings(judged: Assessment) -> Iterator[Drawing]:
    if np.isnan(judged.score("accuracy")):
        return
    yield histogram(judged)
    if judged.study.outcomes:
        yield accuracies(judged)
        yield strongest(judged)
    if len(judged.survival()) > 1:
        yield size_bias(judged)


def histogram(judged: Assessment) -> Drawing:
    """Single-image mIoU, clean and worst case, with CmIoU and NmIoU marked (arXiv:2407.09150, figure 1)."""
    panels = [figure for figure in ("nmiou", "nmiou_foreground") if figure in judged.figures]
    figure, axes = canvas(3.0, len(panels))
    for panel, axis in zip(panels, axes, strict=True):
        clean, worst = image_miou(judged.counts(panel)[0]), judged.worst[panel].values
        bins = np.linspace(0, 1, 21).tolist()
        for values, colour, name in ((clean, CALM, "clean"), (worst, HARM, "worst case")):
            axis.hist(values[np.isfinite(values)], bins, color=colour, alpha=0.75, label=name)
        pooled = panel.replace("nmiou", "cmiou")
        for mark, dashes in ((panel, "-"), (pooled, "--")):
            for value, colour in ((judged.score(mark), CALM), (judged.worst_score(mark), HARM)):
                axis.axvline(value, color=colour, linestyle=dashes, linewidth=1.3)
        name = "every class" if panel == "nmiou" else "foreground only"
        axis.set(title=name, xlim=(0, 1), xlabel="mIoU of an image, %")
        axis.xaxis.set_major_formatter(PERCENT)
    axes[0].set_ylabel("images")
    for dashes, name in (("-", "NmIoU"), ("--", "CmIoU")):
        axes[0].plot([], [], color=INK, linestyle=dashes, linewidth=1.3, label=name)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=4)
    caption = (
        "How many images have which mIoU before and after. Lines: NmIoU (solid) is the mean of these images; CmIoU"
        " (dashed) pools all pixels first. Where they differ, a few images carry the pooled figure."
    )
    return Drawing("histogram", "Not every image falls alike", caption, figure)


def accuracies(judged: Assessment) -> Drawing:
    """Pixel accuracy left by each perturbation, between clean and the worst case over all."""
    labels = [*judged.labels, "worst case", f"always {judged.commonest}"]
    alone = (judged.score("accuracy", label) for label in judged.labels)
    values = [*alone, judged.worst_score("accuracy"), judged.constant("accuracy")]
    colours = [CALM, *[PALE] * (len(labels) - 3), HARM, SOFT]
    figure, (axis,) = canvas(0.7 + 0.26 * len(labels))
    bars = axis.barh(range(len(labels)), values, color=colours, height=0.7)
    axis.bar_label(bars, [percent(value) for value in values], padding=3)
    axis.set(xlim=(0, 1.08), xlabel="pixels right, %")
    axis.xaxis.set_major_formatter(PERCENT)
    _top_down(axis, labels)
    caption = (
        "Pixels still right when every image meets one perturbation only, and when each meets the one that is worst"
        f" for it. Last: a model that says {judged.commonest} everywhere."
    )
    return Drawing("accuracies", "What each perturbation leaves", caption, figure)


def strongest(judged: Assessment) -> Drawing:
    """How often each perturbation is the worst of an image, alone or as the first of several equal."""
    figure, axes = canvas(0.9 + 0.26 * len(judged.labels), 2)
    for axis, score, name in zip(axes, ("accuracy", "nmiou"), ("by accuracy", "by mIoU"), strict=True):
        alone, first = judged.strongest(score)
        labels = ["none (clean is lowest)", *judged.labels[1:]]
        places = range(len(labels))
        axis.barh(places, alone, color=HARM, height=0.7, label="alone")
        bars = axis.barh(places, first, left=alone, color=PALE, height=0.7, label="first of several equal")
        axis.bar_label(bars, [f"{total}" for total in alone + first], padding=3)
        axis.set(title=name, xlabel="images", xlim=(0, 1.12 * max(1, (alone + first).max())))
        axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        _top_down(axis, labels)
    axes[1].set_yticklabels([])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    caption = "On how many images each perturbation did the most harm. Equal results go to the first in declared order."
    if judged.untried.any():
        caption += " Ties with perturbations that were spared an image are not seen; --exhaustive shows them."
    return Drawing("strongest", "Which perturbation is strongest, image by image", caption, figure)


def size_bias(judged: Assessment) -> Drawing:
    """Share of an object that is right against its area, clean and worst case."""
    groups = judged.survival()
    figure, (axis,) = canvas(3.0)
    places = np.arange(len(groups))
    for which, colour, name in ((0, CALM, "clean"), (1, HARM, "worst case")):
        shares = [pair[which].share for pair in groups]
        axis.plot(places, shares, color=colour, marker="o", markersize=4, label=name)
    axis.set_xticks(places, [f"{clean.largest:,}" for clean, _ in groups])
    axis.set(ylim=(0, 1.03), xlabel="area of the object up to, pixels", ylabel="right, %")
    axis.yaxis.set_major_formatter(PERCENT)
    figure.legend(loc="outside upper right", ncols=2)
    caption = (
        "Connected pieces of the truth in tenths by area, smallest left: the share of an object's pixels that is"
        " right, mean over objects. Where the lower curve rises, small objects suffer more."
    )
    return Drawing("size-bias", "Small objects and large ones", caption, figure)


def _top_down(axis: Axes, labels: Sequence[str]) -> None:
    """First bar on top, its label beside it, and no line between."""
    axis.set_yticks(range(len(labels)), [briefly(label) for label in labels])
    axis.invert_yaxis()
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0)
