"""How good the network is by now, on images that it does not train on."""

from __future__ import annotations

import torch
from torch import nn

from ..core import Perturbation
from ..metrics import count, metrics, predict
from ..metrics.scores import foreground
from .batches import Reader, stack
from .processes import rank, total, world

SCORES = ("accuracy", "cmiou", "nmiou")


def validate(
    network: nn.Module, reader: Reader, perturbation: Perturbation, device: str, seed: int
) -> dict[str, float]:
    """Return the scores of the perturbed images; each process looks at its share of them, one by one."""
    network.eval()
    data = reader.data
    counts = torch.zeros(len(reader.ids), len(data.classes), 3, dtype=torch.int64, device=device)
    for index in range(rank(), len(reader.ids), world()):
        batch = stack([reader.read(reader.ids[index])]).to(device)
        images = perturbation.perturb(network, batch, seed).results[0].images
        with torch.no_grad():
            prediction = predict(network(images))
        counts[index] = count(prediction, batch.labels, batch.valid, len(data.classes))[0]
    counted = total(counts).cpu()
    figures = {name: float(metrics.get(name)(counted)) for name in SCORES}
    if data.background is not None:
        figures["accuracy_foreground"] = float(metrics.get("accuracy")(foreground(counted, data.background)))
    return figures
