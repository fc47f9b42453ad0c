"""A study assessed: the figures of the clean prediction, of every perturbation and of the worst case over them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...metrics import definition, metrics
from ...metrics.counts import ACTUAL, HITS, PREDICTED
from ...metrics.intervals import Difference, Interval, difference, interval
from ...metrics.objects import SizeGroup, by_size
from ...metrics.worst_case import NOBODY, WorstCase, bound, choose_worst, tied
from ...results.study import Study
from .candidates import CandidateCounts
from .figure_names import declaration_of, figures, read_name, selected_figures, value_of
from .figure_names import metric_of as metric_of
from .figure_names import title as title

CLEAN = "clean"  # the first candidate of every worst case


@dataclass(frozen=True, eq=False)
class Assessment:
    """All candidates for the worst case side by side, clean first, and the choice made for each figure."""

    study: Study
    labels: tuple[str, ...]
    answered: np.ndarray  # (candidates, images)
    candidates: CandidateCounts
    worst: Mapping[str, WorstCase]  # by figure

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures that this dataset has; the others are NaN."""
        return tuple(figure for figure in figures() if read_name(figure).zone in self.study.clean)

    @property
    def measured(self) -> bool:
        """Whether any image has both a prediction and a truth."""
        return not math.isnan(self.score("accuracy"))

    def counts(self, figure: str) -> np.ndarray:
        """Return the counts of every candidate as the figure reads them."""
        return self.candidates.stack(declaration_of(figure).goal, read_name(figure).zone)

    def candidate(self, figure: str, label: str = CLEAN) -> np.ndarray:
        """Return the counts (images, classes, 3) of one candidate as the figure reads them."""
        return self.candidates.one(declaration_of(figure).goal, read_name(figure).zone, self.labels.index(label))

    def score(self, figure: str, label: str = CLEAN) -> float:
        """Return the figure of one candidate alone, over the images it answered."""
        return value_of(figure, self.candidate(figure, label))

    def worst_score(self, figure: str) -> float:
        """Return the figure when each image meets the candidate chosen for it."""
        return value_of(figure, self.worst[figure].counts)

    def worst_without(self, figure: str, label: str) -> float:
        """Return the worst case if one candidate had not been tried."""
        number = self.labels.index(label)
        others, answered = np.delete(self.counts(figure), number, 0), np.delete(self.answered, number, 0)
        return value_of(figure, choose_worst(declaration_of(figure), others, answered).counts)

    def constant(self, figure: str) -> float:
        """Return the figure of a model that says the commonest class everywhere, whatever it sees."""
        return value_of(figure, self.constant_counts(figure))

    def constant_counts(self, figure: str) -> np.ndarray:
        """Return that model's counts, image by image."""
        actual = self.candidate(figure)[..., ACTUAL]
        commonest = actual.sum(0).argmax()
        counts = np.zeros((*actual.shape, 3), dtype=np.int64)
        counts[..., ACTUAL] = actual
        counts[:, commonest, PREDICTED], counts[:, commonest, HITS] = actual.sum(1), actual[:, commonest]
        return counts

    @property
    def commonest(self) -> str:
        """The class with most true pixels."""
        return self.study.classes[int(self.candidate("accuracy")[..., ACTUAL].sum(0).argmax())]

    @property
    def untried(self) -> np.ndarray:
        """(images,): those that some perturbation was spared, since nothing was left or an audit dropped it."""
        failed = (np.isin(self.study.ids, outcome.rows.images("error")) for outcome in self.study.outcomes)
        tried = [outcome.answered | no for outcome, no in zip(self.study.outcomes, failed, strict=True)]
        untried: np.ndarray = self.answered[0] & ~np.all(tried, axis=0)
        return untried

    def bound(self, zone: str) -> float:
        """Return a CmIoU below which no choice of candidates can come."""
        return bound(self.candidates.stack("miou", zone), self.answered)

    def clean_interval(self, figure: str) -> Interval:
        """Return the clean figure with its interval."""
        return interval(self._clean(figure), metric_of(figure))

    def worst_interval(self, figure: str) -> Interval:
        """Return the worst case with its interval, the choices being as they are."""
        return interval(self._worst(figure), metric_of(figure))

    def loss(self, figure: str) -> Difference:
        """Return clean minus worst case, on the same images."""
        return difference(self._clean(figure), self._worst(figure), metric_of(figure))

    def strongest(self, figure: str) -> tuple[np.ndarray, np.ndarray]:
        """Count per candidate the images on which it alone is worst, and those on which it is the first of equals."""
        candidate = self.worst[figure].chosen
        shared = tied(self.counts(figure), self.answered, declaration_of(figure).score)
        known = candidate != NOBODY
        alone, first = (np.bincount(candidate[known & ties], minlength=len(self.labels)) for ties in (~shared, shared))
        return alone, first

    def survival(self) -> list[tuple[SizeGroup, SizeGroup]]:
        """Group objects by growing area: what is right of them on clean images, and where accuracy is worst."""
        objects = self.study.objects
        known = self.worst["accuracy"].chosen[objects.image] != NOBODY
        groups = (by_size(objects.area[known], hits[known]) for hits in (objects.clean, self.worst_objects()))
        return list(zip(*groups, strict=True))

    def worst_objects(self) -> np.ndarray:
        """Count each object's pixels right where its image's accuracy is worst; clean ones where nobody was chosen."""
        objects = self.study.objects
        correct = np.stack([objects.clean, *(objects.correct[label] for label in self.labels[1:])])
        candidate = np.maximum(self.worst["accuracy"].chosen, 0)[objects.image]
        worst: np.ndarray = correct[candidate, np.arange(len(objects.image))]
        return worst

    def definition(self, figure: str) -> str:
        """Return what the figure means: its rules, then in words."""
        metric, zone, _ = read_name(figure)
        rules = definition(metric, void=self.study.void, background="in" if zone == "all" else "out")
        return f"{rules}: {metrics.about(metric).partition(': ')[2].rstrip('.')}"

    def _clean(self, figure: str) -> np.ndarray:
        return self._answered(self.candidate(figure))

    def _worst(self, figure: str) -> np.ndarray:
        return self._answered(self.worst[figure].counts)

    def _answered(self, counts: np.ndarray) -> np.ndarray:
        """Leave out images that have no clean prediction, unless none has: then every figure is NaN."""
        return counts[self.answered[0]] if self.answered[0].any() else counts


def assess(study: Study) -> Assessment:
    """Line up the candidates of a study and choose the worst of them for every figure."""
    clean = study.clean_answered
    answered = np.stack([clean, *(outcome.answered & clean for outcome in study.outcomes)])
    candidates = CandidateCounts(study, answered)
    worst = {}
    for figure in (*figures(), *selected_figures()):
        declared = declaration_of(figure)
        worst[figure] = choose_worst(declared, candidates.stack(declared.goal, read_name(figure).zone), answered)
    return Assessment(study, (CLEAN, *(outcome.label for outcome in study.outcomes)), answered, candidates, worst)
