"""A folder for FiftyOne: grey masks, a table, and a script that loads them; writing it does not need FiftyOne."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .label_task import LabelTask, Scheme, png, write_pixels

LOADER = '''"""Load the selected images into FiftyOne: python load.py (needs the package fiftyone)."""

import json
from pathlib import Path

import fiftyone as fo

here = Path(__file__).parent.resolve()
content = json.loads((here / "samples.json").read_text())
dataset = fo.Dataset(content["name"], overwrite=True)
dataset.default_mask_targets = {int(label): name for label, name in content["classes"].items()}
for row in content["samples"]:
    sample = fo.Sample(filepath=str(here / "data" / f"{row['image']}.png"), tags=row["tags"])
    for field, folder in content["masks"].items():
        path = here / folder / f"{row['image']}.png"
        if path.exists():
            sample[field] = fo.Segmentation(mask_path=str(path))
    for field, value in row["fields"].items():
        sample[field] = value
    dataset.add_sample(sample)
dataset.persistent = True
session = fo.launch_app(dataset)
session.wait()
'''


@dataclass(frozen=True)
class Shown:
    """An image with all that is known of it."""

    task: LabelTask  # its labels are the truth, or all void
    predictions: Mapping[str, np.ndarray]  # by model
    tags: Sequence[str]
    fields: Mapping[str, str | float | int | list[str]]


def write_fiftyone(shown: Iterable[Shown], scheme: Scheme, folder: Path, name: str) -> None:
    """Write images, one folder of masks for each model and for the truth, samples.json and load.py."""
    rows, models = [], []
    for sample in shown:
        image, labels = sample.task.image, sample.task.labels
        write_pixels(sample.task, folder / "data")
        if (labels != scheme.void).any():
            _write(folder / "ground_truth" / f"{image}.png", labels)
        for model, prediction in sample.predictions.items():
            _write(folder / _folder(model) / f"{image}.png", prediction)
            models.append(model)
        rows.append({"image": image, "tags": list(sample.tags), "fields": dict(sample.fields)})
    masks = {_folder(model): _folder(model) for model in dict.fromkeys(models)} | {"ground_truth": "ground_truth"}
    content = {"name": name, "classes": dict(enumerate(scheme.classes)), "masks": masks, "samples": rows}
    (folder / "samples.json").write_text(json.dumps(content, indent=1))
    (folder / "load.py").write_text(LOADER)


def _folder(model: str) -> str:
    return "prediction_" + "".join(letter if letter.isalnum() else "_" for letter in model)


def _write(path: Path, labels: np.ndarray) -> None:
    """Write grey, not palette: FiftyOne would read the palette's colours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png(labels))
