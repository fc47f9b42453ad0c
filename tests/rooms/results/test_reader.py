"""The one reader of a run: columns as they were stored, each table read once."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from tests.forging import as_earlier

from segstress.core import BadInput, perturbations, to_plain
from segstress.evaluation.rows import row_of
from segstress.planning import read_plan
from segstress.results.run import Run
from segstress.runtime import Cell, Numerics, Shard, Store, record

PLAN = {"models": ["compact:cnn-normal"], "data": ["shapes:test"], "perturbations": ["pgd?steps=2", "pgd?steps=1"]}
GOALS, ZONES, STATES, CLASSES = ("accuracy", "miou"), ("all", "inside"), ("clean", "perturbed"), 3


def cell_of(change):
    return Cell(
        names={"model": "cnn-normal", "data": "shapes-test", "perturbation": change.label},
        model={"kind": "compact", "name": "cnn-normal"},
        data={"kind": "shapes"},
        perturbation=perturbations.spec(change),
        seed=0,
        fingerprints={"model": "m", "data": "d"},
        dataset_info={"classes": list("abc"), "background": None, "void": "", "palette": []},
    )


def shard_of(images, generator):
    shard = Shard()
    for image in images:
        for goal in GOALS:
            shard.images.append(row_of(image, 0) | {"goal": goal})
            for zone in ZONES:
                for state in STATES:
                    for klass in generator.choice(CLASSES, 2, replace=False).tolist():
                        hits, predicted, actual = generator.integers(1, 99, 3).tolist()
                        key = {"image": image, "goal": goal, "zone": zone, "state": state, "class": klass}
                        shard.counts.append({**key, "hits": hits, "predicted": predicted, "actual": actual})
    return shard


@pytest.fixture
def run(tmp_path):
    """Three cells, two shards each; one image failed for one goal."""
    plan = read_plan({**PLAN, "eps": "8/255"})
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(to_plain(plan)))
    record(tmp_path, Numerics())
    store, generator = Store(tmp_path), np.random.default_rng(0)
    shards = {}
    for change in reversed(plan.changes()):
        cell = cell_of(change)
        store.begin(cell)
        shards[cell.key] = [shard_of("db", generator), shard_of("ca", generator)]
        shards[cell.key][0].images[0] |= {"status": "error", "message": "failed"}
        for shard in shards[cell.key]:
            store.add(cell, shard)
    return Run(tmp_path), shards


def test_counts_are_what_was_stored(run):
    reader, shards = run
    ids = ["a", "b", "x", "d"]
    for cell in reader.cells:
        rows = [row for shard in shards[cell.key] for row in shard.counts]
        expected = {
            (goal, zone, state): np.zeros((4, CLASSES, 3), int) for goal in GOALS for zone in ZONES for state in STATES
        }
        for row in rows:
            if row["image"] in ids:
                key = row["goal"], row["zone"], row["state"]
                place = ids.index(row["image"]), row["class"]
                expected[key][place] = row["hits"], row["predicted"], row["actual"]
        counts = reader.counts(cell, ids)
        assert sorted(counts) == sorted(expected)
        assert all((counts[key] == table).all() for key, table in expected.items())


def test_counts_are_of_all_images_asked_for_unless_some_are_named(run):
    reader = Run(as_earlier(run[0].folder).folder)
    (cell, *_) = reader.cells
    every, named = reader.counts(cell), reader.counts(cell, list("abcd"))
    assert sorted(every) == sorted(named)
    assert all((every[key] == table).all() for key, table in named.items())


def test_cells_come_in_the_order_of_the_plan(run):
    reader, _ = run
    assert [cell.names["perturbation"].split()[0] for cell in reader.cells] == ["clean", "pgd(steps=2)", "pgd(steps=1)"]


def test_who_answered_and_who_is_missing(run):
    reader = Run(as_earlier(run[0].folder).folder)
    cell = reader.cells[1]
    assert reader.ids(cell) == list("abcd")
    assert reader.ids(cell, "error") == ["d"]
    assert reader.answered(cell) == list("abc")
    assert reader.missing(cell) == ["d"]
    assert reader.expected(cell) == list("abcd")  # an earlier version did not write down what was asked
    assert reader.absent == []


def test_every_table_is_read_once(run, monkeypatch):
    reader, _ = run
    cell, read = reader.cells[0], []
    original = Store.table
    monkeypatch.setattr(Store, "table", lambda self, *given, **how: read.append(given) or original(self, *given, **how))
    for _ in range(3):
        reader.images(cell), reader.objects(cell), reader.ids(cell, "ok")
    assert len(read) == 2


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(BadInput, match="holds no results"):
        _ = Run(tmp_path).cells


def test_cells_of_earlier_folders_are_read(run):
    reader = Run(as_earlier(run[0].folder).folder)
    before = reader.store.cells()
    for path in reader.folder.glob("cells/*/cell.json"):
        text = path.read_text().replace('"fingerprints"', '"prints"').replace('"dataset_info"', '"facts"')
        path.write_text(text)
    assert reader.store.cells() == before
    path.write_text(text.replace('"prints"', '"stamps"'))
    with pytest.raises(BadInput, match="another version of segstress"):
        reader.store.cells()


def test_settings_of_another_version_are_refused_by_its_name(run):
    reader, _ = run
    for path in as_earlier(reader.folder).folder.glob("cells/*pgd*/cell.json"):
        path.write_text(path.read_text().replace('"steps"', '"strides"'))
    with pytest.raises(BadInput, match=r"was made by segstress .*, whose settings .* does not read"):
        _ = Run(reader.folder).perturbations
