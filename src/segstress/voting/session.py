"""The session: hands out decks and pictures under names that give nothing away, and takes decisions back."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated, Any, Protocol

import numpy as np
from PIL import Image
from pydantic import Field

from ..core import BadInput, settings, to_plain
from .decision_log import DecisionLog
from .trial_list import CHOICES, Mode, Trial, TrialList, check_name, secret_name


class Pictures(Protocol):
    """Where images and label maps come from."""

    def image(self, image: str) -> np.ndarray:
        """8-bit RGB."""
        ...

    def labels(self, image: str, source: str) -> np.ndarray:
        """The label map of a model, or of the annotators."""
        ...


@settings
class Decision:
    """What the page sends: a choice in a trial, or the id of a decision to take back."""

    id: Annotated[str, Field(min_length=1, max_length=64)]
    trial: str = ""
    choice: str = ""
    reason: Annotated[str, Field(max_length=200)] = ""
    undo: Annotated[str, Field(max_length=64)] = ""
    session: Annotated[int, Field(ge=0)] = 0
    sequence: Annotated[int, Field(ge=0)] = 0
    milliseconds: Annotated[int, Field(ge=0)] = 0
    time: Annotated[str, Field(max_length=40)] = ""


@dataclass
class Session:
    """One mode of judging, for any number of people at once."""

    mode: Mode
    secret: str
    decision_log: DecisionLog
    pictures: Pictures
    deal: Callable[[str], TrialList]  # the trial list of a person, the same every time
    classes: Sequence[str]
    palette: Sequence[tuple[int, int, int]]
    void: int
    pause_after: int = 20  # trials after which a break is proposed
    _names: dict[str, tuple[str, str]] = field(default_factory=dict)  # picture -> image and source
    _lock: Lock = field(default_factory=Lock)

    def trial_list(self, rater: str, *, server: bool) -> dict[str, Any]:
        """All that the page may know: trials without models, and what the person has decided so far."""
        dealt = self.deal(check_name(rater))
        return {
            "mode": self.mode,
            "rater": rater,
            "server": server,
            "session": self.pause_after,
            "classes": list(self.classes),
            "palette": [list(colour) for colour in self.palette],
            "void": self.void,
            "trials": [self._show(trial) for trial in dealt.trials],
            "done": [self._told(row) for row in self.standing(rater)] if server else [],
        }

    def _show(self, trial: Trial) -> dict[str, Any]:
        return {
            "id": trial.id,
            "image": self._name(trial.image, ""),
            "maps": [self._name(trial.image, source) for source in trial.shown],
            "classes": list(trial.classes),
        }

    def _name(self, image: str, source: str) -> str:
        name = secret_name(self.secret, "picture", image, source)
        self._names[name] = (image, source)
        return name

    def know(self, image: str, sources: Sequence[str]) -> None:
        """Answer for these pictures even if no trial list was asked for since the server began."""
        for source in ("", *sources):
            self._name(image, source)

    @staticmethod
    def _told(row: Mapping[str, Any]) -> dict[str, Any]:
        return {key: row[key] for key in ("id", "trial", "choice", "sequence")}

    def standing(self, rater: str) -> list[dict[str, Any]]:
        """A person's decisions that were not taken back, in order."""
        return [row for row in self.decision_log.standing() if row.get("rater") == rater]

    def picture(self, name: str) -> str:
        """A script that hands one picture to the page; script, because a page from a file may not fetch."""
        if name not in self._names:
            raise BadInput(f"no picture '{name[:32]}'; load the trial list first")
        image, source = self._names[name]
        pixels = encode(self.pictures.labels(image, source)) if source else self.pictures.image(image)
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "png")
        url = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
        return f"segstress.receive({json.dumps(name)}, {json.dumps(url)});\n"

    def take(self, rater: str, decision: Decision) -> None:
        """Put a decision on paper; sending the same one twice changes nothing."""
        check_name(rater)
        with self._lock:
            decisions = self.standing(rater)
            if any(row["id"] == decision.id for row in decisions):
                return
            if decision.undo:
                if any(row["id"] == decision.undo for row in decisions):
                    self.decision_log.append({"rater": rater, "undo": decision.undo, "time": decision.time})
                return
            if any(row["trial"] == decision.trial for row in decisions):
                raise BadInput("this trial has an answer already; reload the page")
            self.decision_log.append(self.row(rater, decision))

    def row(self, rater: str, decision: Decision) -> dict[str, Any]:
        """A decision with what it was about."""
        if decision.choice not in CHOICES[self.mode]:
            raise BadInput(f"choice: expected one of {', '.join(CHOICES[self.mode])}, found '{decision.choice[:32]}'")
        trial = self.deal(rater).find(decision.trial)
        plain = {key: value for key, value in to_plain(decision).items() if key != "undo"}
        about = {"image": trial.image, "shown": list(trial.shown), "classes": list(trial.classes)}
        return {"rater": rater, **about, "repeat": trial.repeat, **plain}


def encode(labels: np.ndarray) -> np.ndarray:
    """A label map as RGB: the low byte in red, the high byte in green, so that any number of classes fits."""
    wide = labels.astype(np.uint16)
    return np.stack([wide & 255, wide >> 8, np.zeros_like(wide)], axis=-1).astype(np.uint8)
