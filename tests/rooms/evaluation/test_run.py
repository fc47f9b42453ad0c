"""What an evaluation loads and reads: each model once in the driver, each battery once, each image once a unit."""

from __future__ import annotations

from collections import Counter

import pytest

from segstress.data.shapes import Shapes
from segstress.evaluation import evaluate
from segstress.models import model as loading
from segstress.planning import plan as planning
from segstress.planning import sharding
from segstress.runtime import RunOptions, Store

BATTERY = "perturbations: [{attack: pgd, steps: 1}, {attack: segpgd, steps: 1}, {attack: cospgd, steps: 1}]"


@pytest.fixture
def seen(monkeypatch):
    """How often what was asked for."""
    sharding._size.cache_clear()  # another test may have asked for the size of the same images
    counted: Counter[str] = Counter()

    def watch(owner, name, key):
        original = getattr(owner, name)

        def counting(*arguments, **settings):
            counted[f"{name} {key(*arguments)}"] += 1
            return original(*arguments, **settings)

        monkeypatch.setattr(owner, name, counting)

    watch(loading, "load", lambda spec: spec["name"])
    watch(planning, "battery", lambda name: "of the plan")
    watch(Shapes, "read", lambda self, id: id)
    return counted


def test_models_batteries_and_images_are_opened_once(seen, tmp_path):
    (tmp_path / "battery.yaml").write_text(BATTERY)
    plan = {
        "models": ["compact:cnn-normal", "compact:unet-normal"],
        "data": ["shapes:test?count=2&size=32"],
        "battery": str(tmp_path / "battery.yaml"),
        "eps": "8/255",
    }
    evaluate(plan, tmp_path / "run", RunOptions(workers=1))
    assert seen["load cnn-normal"] == seen["load unet-normal"] == 1
    assert seen["battery of the plan"] == 1
    read = {key: number for key, number in seen.items() if key.startswith("read")}
    assert len(read) == 2
    # for each of two models: examined, clean, and once for the whole battery; the first twice more for its size
    assert sorted(read.values()) == [2 * 3, 2 * 3 + 2]


def test_reading_ahead_changes_nothing(tmp_path):
    """As on a device other than the CPU, whose numbers are otherwise its own."""
    plan = {"models": ["compact:cnn-normal"], "data": ["shapes:test?count=5&size=32"], "perturbations": ["fgsm"]}
    tables = []
    for number, device in enumerate(("cpu", "cpu:0")):
        folder = tmp_path / str(number)
        evaluate({**plan, "eps": "8/255", "numerics": {"device": device}}, folder, RunOptions(workers=1))
        store = Store(folder)
        tables.append([store.table(cell, name) for cell in store.cells() for name in ("images", "counts", "objects")])
    assert tables[0] == tables[1]
