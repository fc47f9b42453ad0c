"""The page of a training, from what its folder holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from ..core import BadInput, Perturbation, import_source
from ..core.files import write
from ..data import Dataset, resize, stack
from ..data import load as load_data
from ..metrics import predict
from ..models import Segmenter, fingerprint
from ..models import load as load_model
from ..planning.perturbing import read_perturbation
from ..planning.reading import checked, read_yaml
from ..reports.training.page import write_training
from ..reports.training.record import TrainingRecord
from ..results.study import Frame
from ..training import Checkpoints, recipes
from .plan import TrainingPlan

SAMPLES = 4  # images of the page


def is_training(folder: Path) -> bool:
    """Tell whether a folder was made by a training."""
    return (folder / "state.safetensors").exists()


def report(folder: Path, out: Path | None = None) -> Path:
    """Write the page of a training; its path."""
    return write_training(read_record(folder), out or folder / "report")


def read_record(folder: Path) -> TrainingRecord:
    """Return what a training left behind, with what its last model makes of a few images."""
    if not (folder / "last.safetensors").exists():
        raise BadInput(f"{folder} holds no model yet; run the same training again until an epoch is done")
    plain = read_yaml((folder / "plan.yaml").read_text(), "plan.yaml")
    plan = checked(TrainingPlan, plain, "training plan")
    for plugin in plan.plugins:
        import_source(plugin)
    spec, data = f"checkpoint:{folder / 'last.safetensors'}", load_data(plan.validation or plan.data)
    model = load_model(spec)
    attack = read_perturbation(plan.probe or recipes.build(plan.recipe).attack, {})
    return TrainingRecord(
        title=folder.resolve().name,
        history=Checkpoints(folder, write).read_history(),
        plan=plain,
        card=json.loads((folder / "last.json").read_text()),
        frames=list(_samples(model, data, attack, plan.seed)),
        classes=data.classes,
        palette=tuple(data.palette),
        epochs=plan.epochs,
        weights=fingerprint(model, spec),
    )


def _samples(model: Segmenter, data: Dataset, attack: Perturbation, seed: int) -> Iterator[Frame]:
    """Yield a few images before and after the attack."""
    for id_ in data.ids()[:SAMPLES]:
        batch = stack([resize(data.read(id_), data.resize)])
        perturbed = attack.perturb(model, batch, seed).results[0].images
        with torch.no_grad():
            clean, after = (predict(model(images))[0].numpy() for images in (batch.images, perturbed))
        truth = np.where(batch.valid[0].numpy(), batch.labels[0].numpy(), -1)
        yield Frame(id_, attack.label, batch.images[0].numpy(), perturbed[0].numpy(), truth, clean, after)
