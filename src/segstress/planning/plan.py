"""What is asked: models, data and perturbations, read from YAML or from the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ..core import (
    Perturbation,
    Radius,
    Seed,
    Spec,
    digest,
    import_source,
    perturbations,
    seed_of,
    settings,
)
from ..core.fingerprints import fingerprints
from ..core.quantities import Count
from ..data import Dataset, datasets
from ..data import load as load_data
from ..data.palette import make_palette
from ..models import Legend, Model, fingerprint, models
from ..models import load as load_model
from ..runtime import Cell, Numerics
from .battery_files import Battery, Share, Specs, battery
from .perturbing import read_alone, read_perturbation
from .reading import changed, checked, read_file

AUDIT = 0.1  # share of the images that a budget is planned on


def _radii(value: Any) -> Any:
    """Read one radius or several, also as text with commas."""
    parts = value.split(",") if isinstance(value, str) else value
    return parts if isinstance(parts, list | tuple) else [] if parts is None else [parts]


def _seconds(value: Any) -> Any:
    """Read a time written as a number of seconds or as "90s", "30m", "2h"."""
    units = {"s": 1, "m": 60, "h": 3600}
    return float(value[:-1]) * units[value[-1]] if isinstance(value, str) and value[-1:] in units else value


Seconds = Annotated[float, BeforeValidator(_seconds), Field(ge=0)]


@settings
class Plan:
    """One run: every model on every dataset under every perturbation (clean is always among them)."""

    models: Specs  # what is stressed, e.g. compact:cnn-normal: segstress list models
    data: Specs  # on which images, e.g. folder:photos?classes=11&ignore=255: segstress list datasets
    perturbations: Specs = Field(default_factory=list)  # attacks and corruptions by name, each by itself
    battery: str | None = None  # a list of perturbations by name (segstress list batteries) or by path
    battery_label: str = ""  # its name and version, noted in the folder of a run: "strong v1"
    eps: Annotated[list[Radius], BeforeValidator(_radii)] = Field(default_factory=list)  # for attacks that name none
    norm: str | None = None  # linf (without any) or l2
    target: int | str | dict[str, Any] | None = None  # for attacks that name none: a class id, map:file.png ...
    weights: str | None = None  # the training split whose class frequencies balance attacks published with such weights
    objects: bool = False  # attack every object of the truth by itself, too
    pixels: Count | None = None  # attack so many pixels of each image, each by itself, too
    alone: str | dict[str, Any] | None = None  # the attack that does so; none = the one that was found best for each
    seed: Seed = 0  # of every random draw
    limit: Annotated[int, Field(ge=1)] | None = None  # images of each dataset, chosen by hash of their id
    plugins: list[str] = Field(default_factory=list)  # modules or files that register more
    exhaustive: bool = False  # run a whole battery on every image, also where an earlier attack left nothing to win
    done_at: Share = 0.0005  # so few correct pixels are none to the rest of a battery; 0 = none may be left
    budget: Seconds = 0.0  # "30m": attacks are chosen to fit; 0 = no limit
    keep_images: bool = False  # keep every perturbed image, for the gallery too; else 24
    numerics: Numerics = Numerics()  # device, images per pass, threads and precision, on which rounding depends

    def __post_init__(self) -> None:
        for plugin in self.plugins:
            import_source(plugin)

    def changes(self) -> list[Perturbation]:
        """Return clean, then the perturbations in their order, each once."""
        return list(self._changes)

    @cached_property
    def _changes(self) -> list[Perturbation]:
        built = [perturbations.build("clean"), *self._read(self.perturbations), *self.waves(), *self.floors()]
        return list({digest(perturbations.spec(change)): change for change in built}.values())

    @cached_property
    def attacks(self) -> Battery | None:
        """Its battery, read once."""
        return battery(self.battery) if self.battery else None

    def waves(self) -> list[Perturbation]:
        """Return the battery in its order: each attack gets the images that the earlier ones left something of."""
        return list(self._waves)

    @cached_property
    def _waves(self) -> list[Perturbation]:
        return self._read(self.attacks.perturbations) if self.attacks else []

    def floors(self) -> list[Perturbation]:
        """Return the attacks on objects and pixels, each by itself."""
        parts: list[dict[str, Any]] = [{"parts": "objects"}] if self.objects else []
        parts += [] if self.pixels is None else [{"parts": "pixels", "number": self.pixels}]
        return [read_alone(part, self.alone, threat) for threat in self._threats() for part in parts]

    def audited(self) -> Battery | None:
        """Return the battery to try on a sample before attacks are chosen for the rest, if that is asked for."""
        if self.exhaustive or self.attacks is None:
            return None
        audited = self.attacks
        if self.budget and not audited.audit:
            audited = replace(audited, audit=AUDIT)
        return audited if audited.audit else None

    def _read(self, specs: Sequence[Spec]) -> list[Perturbation]:
        return [read_perturbation(spec, threat) for threat in self._threats() for spec in specs]

    def _threats(self) -> list[dict[str, Any]]:
        """Return what perturbations may do that do not say it themselves, for each radius."""
        given: dict[str, Any] = {"norm": self.norm, "target": self.target, "weights": self.weights}
        common = {key: value for key, value in given.items() if value is not None}
        return [common | {"eps": eps} for eps in self.eps] or [common]

    def cells(self, prints: Sequence[str] | None = None) -> list[Cell]:
        """Return every combination, in declared order; models without given fingerprints are loaded for them."""
        sources = [(data, data.fingerprint()) for data in map(load_data, self.data)]
        changes = [(change, tuple(fingerprints(change))) for change in self.changes()]
        built = list(map(models.build, self.models))
        if prints is None:
            prints = [fingerprint(load_model(model), model) for model in built]
        return [
            Cell(
                names={"model": model.label, "data": data.label, "perturbation": change.label},
                model=models.spec(model),
                data=datasets.spec(data),
                perturbation=perturbations.spec(change),
                seed=self.seed,
                fingerprints={"model": weights, "data": content},
                dataset_info=info,
                files=files,
            )
            for model, weights in zip(built, prints, strict=True)
            for data, content in sources
            for info in [_dataset_info(data, model)]
            for change, files in changes
        ]

    def ids(self, data: Dataset) -> list[str]:
        """Choose the images of a dataset that this plan looks at, in the dataset's order."""
        ids = data.ids()
        if self.limit is None:
            return list(ids)
        limited = set(sorted(ids, key=lambda id_: seed_of(0, id_, "limit"))[: self.limit])
        return [id_ for id_ in ids if id_ in limited]


def numbered(data: Dataset) -> bool:
    """Say whether a dataset has but numbers for its classes."""
    return data.classes == tuple(f"class {number}" for number in range(len(data.classes)))


def _dataset_info(data: Dataset, model: Model) -> dict[str, Any]:
    """Return what reports say of the data; classes that it only numbers have the model's names, if it has any."""
    legend = model.legend() if numbered(data) else None
    named = legend if legend and len(legend.names) == len(data.classes) else Legend(data.classes)
    plain = data.palette == make_palette(len(data.classes), data.background)  # else it brings colours of its own
    return {
        "classes": list(named.names),
        "background": data.background,
        "void": data.void,
        "palette": [list(colour) for colour in (plain and named.palette) or data.palette],
        **({"show": list(data.show)} if data.show else {}),
    }


def read_plan(source: Path | str | Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> Plan:
    """Read a plan from a file or a mapping, with changes to it."""
    plain = source if isinstance(source, Mapping) else read_file(Path(source), "expected a YAML plan")
    return checked(Plan, changed(plain, changes or {}), "plan", getattr(plain, "lines", {}))


def names(specs: Sequence[Spec]) -> str:
    """Turn specs into a short name for a folder."""
    return "+".join((spec if isinstance(spec, str) else str(spec.get("kind"))).split("?")[0] for spec in specs)
