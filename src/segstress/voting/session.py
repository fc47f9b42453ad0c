"""The session: hands out decks and pictures under names that give nothing away, and takes decisions back."""

from __future__ import annotations

import base64
import io
import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Annotated, Any, Protocol

import numpy as np
from PIL import Image
from pydantic import Field

from ..core import BadInput, settings, to_plain
from .decision_log import DecisionLog
from .trial_list import CHOICES, Mode, Trial, TrialList, check_name, secret_name, sign

KEPT = 64  # images whose maps stay in memory as they are sent


class Answered(BadInput):
    """A second answer to a trial: not taken."""


class Pictures(Protocol):
    """Where images and label maps come from."""

    def image(self, image: str) -> np.ndarray:
        """Return 8-bit RGB."""
        ...

    def labels(self, image: str, source: str) -> np.ndarray:
        """Return the label map of a model, or of the annotators."""
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
    _sources: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # image -> its maps
    _scripts: OrderedDict[str, dict[str, str]] = field(default_factory=OrderedDict)  # image -> its maps as scripts
    _lock: Lock = field(default_factory=Lock)
    _drawing: Lock = field(default_factory=Lock)

    def trial_list(self, rater: str, *, server: bool) -> dict[str, Any]:
        """Return all that the page may know: trials without models, and what the person has decided so far."""
        dealt = self.deal(check_name(rater))
        return {
            "mode": self.mode,
            "rater": rater,
            "signature": sign(self.secret, rater),
            "server": server,
            "session": self.pause_after,
            "classes": list(self.classes),
            "palette": [list(colour) for colour in self.palette],
            "void": self.void,
            "trials": [self._show(trial) for trial in dealt.trials],
            "done": [self._public_row(row) for row in self.current(rater)] if server else [],
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
        if source:
            self._sources[image].add(source)
        return name

    def know(self, image: str, sources: Sequence[str]) -> None:
        """Answer for these pictures even if no trial list was asked for since the server began."""
        for source in ("", *sources):
            self._name(image, source)

    @staticmethod
    def _public_row(row: Mapping[str, Any]) -> dict[str, Any]:
        return {key: row.get(key) for key in ("id", "trial", "choice", "sequence")}

    def current(self, rater: str) -> list[dict[str, Any]]:
        """Return a person's decisions that were not taken back, in order."""
        return [row for row in self.decision_log.current() if row.get("rater") == rater]

    def picture(self, name: str) -> str:
        """Return a script that hands one picture to the page; script, because a page from a file may not fetch."""
        if name not in self._names:
            raise BadInput(f"no picture '{name[:32]}'; load the trial list first")
        image, source = self._names[name]
        return self._maps(image)[name] if source else _script(name, self.pictures.image(image))

    def _maps(self, image: str) -> dict[str, str]:
        """Return all maps of an image, drawn together and made equally long: neither size nor time tells them apart."""
        with self._drawing:
            if image not in self._scripts:
                maps = {source: encode(self.pictures.labels(image, source)) for source in sorted(self._sources[image])}
                scripts = {name: _script(name, maps[source]) for source in maps for name in [self._name(image, source)]}
                longest = max(map(len, scripts.values()))
                self._scripts[image] = {name: script.ljust(longest) for name, script in scripts.items()}
                if len(self._scripts) > KEPT:
                    self._scripts.popitem(last=False)
            return self._scripts[image]

    def take(self, rater: str, decision: Decision) -> None:
        """Put a decision on paper; sending the same one twice changes nothing, nor does one that was taken back."""
        check_name(rater)
        with self._lock:
            decisions = self.current(rater)
            known = any(row.get("id") == decision.id for row in decisions)
            if known or (rater, decision.id) in self.decision_log.withdrawn():
                return
            if decision.undo:
                if any(row.get("id") == decision.undo for row in decisions):
                    self.decision_log.append({"rater": rater, "undo": decision.undo, "time": decision.time})
                return
            if any(row.get("trial") == decision.trial for row in decisions):
                raise Answered("this trial has an answer already, from another window; yours was not taken")
            self.decision_log.append(self.row(rater, decision))

    def row(self, rater: str, decision: Decision) -> dict[str, Any]:
        """Return a decision with what it was about."""
        if decision.choice not in CHOICES[self.mode]:
            raise BadInput(f"choice: expected one of {', '.join(CHOICES[self.mode])}, found '{decision.choice[:32]}'")
        trial = self.deal(rater).find(decision.trial)
        plain = {key: value for key, value in to_plain(decision).items() if key != "undo"}
        about = {"image": trial.image, "shown": list(trial.shown), "classes": list(trial.classes)}
        return {"rater": rater, **about, "repeat": trial.repeat, **plain}


def _script(name: str, pixels: np.ndarray) -> str:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    url = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    return f"segstress.receive({json.dumps(name)}, {json.dumps(url)});\n"


def encode(labels: np.ndarray) -> np.ndarray:
    """Turn a label map into RGB: low byte in red, high byte in green, so that any number of classes fits."""
    wide = labels.astype(np.uint16)
    return np.stack([wide & 255, wide >> 8, np.zeros_like(wide)], axis=-1).astype(np.uint8)
