"""Targets from the command line and from plans, to rows that say how much of them was reached."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import yaml
from PIL import Image
from tests.conftest import net

from segstress.data import load as load_data
from segstress.models import load as load_model
from segstress.runtime import Store

WAYS = ("--workers", "1", "--out", "run")


def searched(segstress, data, target, *more):
    """A short search for smallness on tests' own net."""
    words = ("--attack", "ddn-auto?steps=30", "--enough", "0.5", "--target", target)
    return segstress("minimal", "--model", net("tiny"), "--data", data, *words, *WAYS, *more)


@pytest.fixture
def goals(folder, tmp_path):
    """For each target the map that it wants of every image, worked out here."""
    drawn = np.full((16, 20), 4, np.uint8)
    Image.fromarray(drawn).save(tmp_path / "wanted.png")
    model, dataset = load_model(net("tiny")), load_data(folder[1])
    ids = dataset.ids()
    seen = [model(dataset.read(id_).image[None]).argmax(1)[0].numpy() for id_ in ids]
    masks = np.stack([np.asarray(Image.open(folder[0] / "masks" / f"{id_}.png")) for id_ in ids])
    votes = np.stack([(masks == klass).sum(0) for klass in (*range(7), 255)])
    return {
        "2": dict.fromkeys(ids, np.full((16, 20), 2)),
        "map:wanted.png": dict.fromkeys(ids, drawn),
        "prediction": {id_: seen[(number + 1) % 4] for number, id_ in enumerate(ids)},
        f"majority:{folder[1]}": dict.fromkeys(ids, np.where(votes.argmax(0) < 7, votes.argmax(0), -1)),
    }


def test_won_is_the_share_at_the_target(segstress, folder, tmp_path, goals):
    model = load_model(net("tiny"))
    for number, (target, wanted) in enumerate(goals.items()):
        assert searched(segstress, folder[1], target, "--keep-images", "--out", f"run-{number}").code == 0
        store = Store(tmp_path / f"run-{number}")
        cell = next(cell for cell in store.cells() if cell.perturbation["kind"] == "attack")
        kept, rows = store.arrays(cell, "kept"), store.table(cell, "images").to_pylist()
        for row in rows:
            seen = model(torch.from_numpy(kept[f"{row['goal']}|{row['image']}"])[None]).argmax(1)[0].numpy()
            goal = wanted[row["image"]]
            assert (row["won_pixels"], row["aimed"]) == ((seen == goal).sum(), (goal >= 0).sum()), target
        assert len(rows) == 4


def test_a_plan_names_a_target_for_all_its_attacks(segstress, folder, tmp_path):
    plan = {"models": [net("tiny")], "data": [folder[1]], "perturbations": ["pgd?steps=1", "segpgd?steps=1&target=1"]}
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump({**plan, "eps": "8/255", "target": "prediction"}))
    assert segstress("run", "plan.yaml", *WAYS).code == 0
    labels = [cell.names["perturbation"] for cell in Store(tmp_path / "run").cells()]
    assert sorted(label for label in labels if label != "clean") == [
        "pgd(steps=1) linf 8/255 to prediction of the next image",
        "segpgd(steps=1) linf 8/255 to class 1",
    ]
    assert segstress("verify", "run").code == 0


def test_another_map_of_the_same_name_is_another_cell(segstress, folder, tmp_path):
    for value, code in ((1, 0), (2, 2)):
        Image.fromarray(np.full((16, 20), value, np.uint8)).save(tmp_path / "wanted.png")
        said = searched(segstress, folder[1], "map:wanted.png")
        assert said.code == code, said
    assert "another plan" in said.err


def test_bad_maps_fail_only_their_own_images(segstress, folder, tmp_path):
    (tmp_path / "maps").mkdir()
    for number, shape in ((0, (16, 20)), (1, (16, 19)), (2, (16, 20))):
        Image.fromarray(np.full(shape, 9 if number == 2 else 1, np.uint8)).save(tmp_path / f"maps/scene-{number}.png")
    said = searched(segstress, folder[1], "map:maps")
    assert said.code == 1, said
    store = Store(tmp_path / "run")
    cell = next(cell for cell in store.cells() if cell.perturbation["kind"] == "attack")
    rows = {row["image"]: row for row in store.table(cell, "images").to_pylist()}
    assert [rows[f"scene-{number}"]["status"] for number in range(4)] == ["ok", "error", "error", "error"]
    for number, words in ((1, "found 16x19"), (2, "found 9"), (3, "is missing")):
        assert words in rows[f"scene-{number}"]["message"]


@pytest.mark.parametrize("target", ["map:nowhere.png", "majority:folder:nowhere?classes=7&ignore=255", "mapp:x"])
def test_targets_that_cannot_be_had_are_refused_in_one_line(segstress, folder, target):
    said = searched(segstress, folder[1], target)
    assert said.code == 2
    assert sum(line.startswith("segstress:") for line in said.err.splitlines()) == 1


def test_a_map_that_fits_no_image_is_named_where_every_search_failed(segstress, folder, tmp_path):
    Image.fromarray(np.full((16, 20), 26, np.uint8)).save(tmp_path / "raw.png")
    said = searched(segstress, folder[1], "map:raw.png")
    assert said.code == 2
    assert "failed on every image" in said.err
    assert "found 26" in said.err
    assert "made by segstress minimal" not in said.err
