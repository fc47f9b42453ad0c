"""Minimal attacks beside adv-lib's at equal forward passes; skipped where that is not installed."""

from __future__ import annotations

import math
from statistics import median

import pytest
import torch

from segstress.attacks import Attack, attacks
from segstress.attacks.search.polish import POLISHING
from segstress.core import Threat
from segstress.data import load as load_data
from segstress.data import stack
from segstress.models import load as load_model

peer = pytest.importorskip("adv_lib.attacks.segmentation", exc_type=ImportError)

FORWARDS = 200
PEERS = {
    "alma-prox": (peer.alma_prox, {"num_steps": FORWARDS}),
    "pdpgd": (peer.pdpgd, {"num_steps": FORWARDS, "norm": math.inf, "primal_lr": 0.01}),
    "dag": (peer.dag, {"max_iter": FORWARDS, chr(947): 0.003}),  # its step is named by the Greek letter
}


def size(model, batch, images):
    """Largest change, or infinity where too few pixels are won."""
    with torch.no_grad():
        wrong = (model(images).argmax(1) != batch.labels) & batch.valid
    return float((images - batch.images).abs().max()) if wrong.sum() >= 0.99 * batch.valid.sum() else math.inf


@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
def test_ours_ends_no_larger_and_fails_no_more_often(name):
    model, data = load_model("compact:cnn-normal"), load_data("shapes:val")
    ours = Attack(algorithm=attacks.build({"kind": f"{name}-auto", "steps": FORWARDS - POLISHING - 2}), threat=Threat())
    run, settings = PEERS[name]
    pairs = []
    for id_ in data.ids()[:3]:
        batch = stack([data.read(id_)])
        with torch.compiler.set_stance("force_eager"):  # compiling takes it a minute
            theirs = run(model, batch.images, batch.labels, masks=batch.valid, **settings)
        found = ours.perturb(model, batch, 0).results[0].images
        pairs.append((size(model, batch, found), size(model, batch, theirs)))
    mine, other = zip(*pairs, strict=True)
    assert mine.count(math.inf) <= other.count(math.inf)
    assert median(mine) <= median(other)
