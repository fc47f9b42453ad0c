"""What a report is made of: everything that was measured of one model on one dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Protocol

import numpy as np

from ..metrics.intervals import Interval
from .rows import ImageRows


@dataclass(frozen=True, eq=False)
class Outcome:
    """One perturbation on one model and dataset."""

    label: str  # such as "pgd 8/255"; unique within a study
    about: str  # its settings in one line, for the reader
    goals: tuple[str, ...]  # ("accuracy", "miou") for budget attacks, ("any",) otherwise
    counts: Mapping[tuple[str, str], np.ndarray]  # (goal, zone) -> (images, classes, 3), zeros where not answered
    clean: Mapping[str, np.ndarray]  # zone -> counts of the clean prediction in this outcome's own zones
    answered: np.ndarray  # (images,): False where the image has an error or was skipped
    rows: ImageRows
    traces: Mapping[str, Mapping[int, int]] = field(default_factory=dict)  # image -> forwards -> fewest pixels right

    def for_goal(self, goal: str) -> str:
        """Return the goal whose result is read where this one is wanted: itself, or the only one there is."""
        return goal if goal in self.goals else self.goals[0]


@dataclass(frozen=True, eq=False)
class Objects:
    """Connected components of the truth, and how many of their pixels are right; one entry per object."""

    image: np.ndarray  # place of its image in Study.ids
    klass: np.ndarray
    area: np.ndarray  # pixels
    clean: np.ndarray  # pixels right in the clean prediction
    correct: Mapping[str, np.ndarray]  # outcome label -> pixels right (goal accuracy)
    kept: Mapping[str, np.ndarray]  # outcome label -> pixels right both clean and then


@dataclass(frozen=True, eq=False)
class Frame:
    """One image before and after one perturbation, for the gallery."""

    image_id: str
    outcome: str  # its label
    image: np.ndarray  # (channels, height, width) in [0, 1]
    perturbed: np.ndarray
    truth: np.ndarray  # (height, width), -1 where void
    clean: np.ndarray  # prediction on `image`
    prediction: np.ndarray  # prediction on `perturbed`
    region: np.ndarray | None = None  # (height, width): where a perturbation of a part acted
    together: bool = False  # `prediction` is what several attacks fooled together, `perturbed` the image of the last


class FrameReader(Protocol):
    """Frames of images that are not held: all together may be more than memory has room for."""

    ids: tuple[str, ...]

    def first(self, count: int) -> FrameReader:
        """Return a reader of so many images."""

    def __iter__(self) -> Iterator[Frame]:
        """Read one after the other."""


@dataclass(frozen=True, eq=False)
class PartsFrame:
    """One image of which every part was attacked by itself, for the maps."""

    image_id: str
    image: np.ndarray  # (channels, height, width) in [0, 1]
    truth: np.ndarray  # (height, width), -1 where void
    clean: np.ndarray  # prediction on `image`
    prediction: np.ndarray  # each part as predicted under its own attack, all else as clean
    attacked: np.ndarray  # (height, width): whether a pixel belongs to a part


@dataclass(frozen=True, eq=False)
class Floor:
    """Parts of the images, each attacked by itself with the whole budget; no candidate for the worst case."""

    parts: str  # objects or pixels
    outcome: Outcome
    frames: tuple[PartsFrame, ...] = ()
    erased: tuple[tuple[int, Frame], ...] = ()  # number of an object, and the image in which none of it is right


@dataclass(frozen=True)
class AttackSelection:
    """What an adaptive run made of its battery after trying all of it on a sample."""

    kept: tuple[str, ...]  # keys of cells, or labels of outcomes, strongest first
    dropped: tuple[str, ...]
    images: int  # of the sample
    loss_accuracy: Interval  # by which the worst case of the other images is estimated to be too high
    loss_nmiou: Interval

    def plain(self) -> dict[str, Any]:
        """Return it as it is stored with a run."""
        losses = {name: list(astuple(getattr(self, name))) for name in ("loss_accuracy", "loss_nmiou")}
        return {"kept": list(self.kept), "dropped": list(self.dropped), "images": self.images, **losses}

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> AttackSelection:
        """Read it from what is stored."""
        losses = (Interval(*plain[name]) for name in ("loss_accuracy", "loss_nmiou"))
        return cls(tuple(plain["kept"]), tuple(plain["dropped"]), plain["images"], *losses)


@dataclass(frozen=True)
class Gap:
    """By how many points ten times the effort lowered a battery's figures, at most, on the models it was tried on."""

    accuracy: float
    nmiou: float
    models: tuple[str, ...]
    threats: tuple[str, ...]  # under which that was tried


@dataclass(frozen=True, eq=False)
class Study:
    """All that was measured of one model on one dataset."""

    model: str
    data: str
    eps: float | None
    threat: str  # such as "linf 8/255"
    classes: tuple[str, ...]
    background: int | None
    void: str  # the values that mean "not labelled", for definitions
    palette: tuple[tuple[int, int, int], ...]
    ids: tuple[str, ...]
    clean: Mapping[str, np.ndarray]  # zone -> (images, classes, 3)
    clean_answered: np.ndarray  # (images,)
    outcomes: tuple[Outcome, ...]  # clean is not among them, nor what was attacked part by part
    objects: Objects
    frames: tuple[Frame, ...]
    warnings: tuple[str, ...]
    provenance: Mapping[str, str]  # versions, seed, command, hashes, numerics
    ball: str = ""  # the threat without its radius, such as "linf": studies that share it make a curve
    choice: AttackSelection | None = None
    done_at: float = 0.0  # share of correct pixels with which an image counted as finished
    battery: str = ""  # name and version of the battery that was run, such as "strong v1"
    gap: Gap | None = None
    alone: tuple[Floor, ...] = ()
    checkup: tuple[str, ...] = ("NOT checked: the doctor did not look at this model.",)  # what was, with what outcome
    skipped: tuple[str, ...] = ()  # images without a valid pixel, which no figure misses
    damage: tuple[str, ...] = ()  # stored files that changed, are missing or foreign, and why the seal does not hold
    seal: str = ""  # of the run, where it bears one that holds
    environment_seal: str = ""
    more: FrameReader | None = None  # of images beside those of `frames`
