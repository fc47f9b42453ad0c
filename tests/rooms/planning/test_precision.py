"""What `plan` says of the width of intervals: about what a run of that many images then has."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from segstress.data import load as load_data
from segstress.data import stack
from segstress.metrics.counts import count, predict
from segstress.metrics.intervals import interval
from segstress.metrics.scores import accuracy, nmiou
from segstress.models import load
from segstress.planning import read_plan
from segstress.planning.precision import LOOKED, expected_precision

MODEL = "compact:cnn-pgd-at-100"


def foretold(data: str):
    (found,) = expected_precision(read_plan({"models": [MODEL], "data": [data], "perturbations": [], "eps": "8/255"}))
    return found


def test_sixteen_images_foretell_the_width_that_more_will_have():
    found, source = foretold("shapes:val?count=64&size=48"), load_data("shapes:val?count=64&size=48")
    batches, network = (stack([source.read(id_)]) for id_ in source.ids()), load(MODEL)
    with torch.no_grad():
        counts = [
            count(predict(network(batch.images)), batch.labels, batch.valid, len(source.classes)) for batch in batches
        ]
    for metric, half in ((accuracy, found.accuracy), (nmiou, found.nmiou)):
        measured = interval(torch.cat(counts).numpy(), metric)
        assert half == pytest.approx((measured.high - measured.low) / 2, rel=0.4)
    assert (found.images, found.looked) == (64, LOOKED)


def test_one_image_foretells_nothing():
    found = foretold("shapes:val?count=1&size=32")
    assert not found.known
    assert np.isnan(found.nmiou)


def test_the_command_says_it(segstress):
    words = ("--model", MODEL, "--data", "shapes:val?count=9&size=32", "--attack", "pgd?steps=2", "--eps", "8/255")
    said = " ".join(segstress("plan", *words).out.split())
    assert "with 9 images expect 95 % intervals of about +-" in said
    assert "from the spread of 9 clean images" in said
