"""Localized damage, end to end."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.conftest import net, write_folder
from tests.forging import fit

from segstress.core import BadInput
from segstress.data import load
from segstress.data.resizing import resize_images
from segstress.evaluation import evaluate
from segstress.evaluation.ensemble import mixtures, steps_of
from segstress.evaluation.local_report import spatial_report
from segstress.evaluation.verify import verify
from segstress.planning.spatial import corruption_specs, multi_attack_spec, patch_regions
from segstress.results.local_results import read_local, scenes
from segstress.results.run import Run
from segstress.results.strikes import read_strikes
from segstress.runtime import RunOptions, Shard, Store

ALONE = RunOptions(workers=1)
DATA = "shapes:test?count=3&size=32"


def plan(specs, **changes):
    return {"models": [net("tiny")], "data": [DATA], "perturbations": specs, "exhaustive": True, **changes}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Patches of several ratios, none and all among them; a local effect; several attacks."""
    folder = tmp_path_factory.mktemp("spatial") / "run"
    specs = corruption_specs(["gaussian_noise"], [1, 4], [None, *patch_regions([0, 0.5, 1], 8)], distances=[4])
    specs += corruption_specs(["occlusion"], [5], [None])
    specs.append(multi_attack_spec(12, "centre", 3, "32/255", number=2))
    evaluate(plan(specs), folder, ALONE)
    return folder


def test_inside_and_outside_make_the_whole(done):
    found = [spot for spot in read_local(Run(done)) if spot.region]
    assert len(found) == 2 * 3 + 1 + 4
    for spot in found:
        for counts in (spot.clean, spot.perturbed):
            none = np.zeros_like(counts["all"])
            assert np.array_equal(counts.get("inside", none) + counts.get("outside", none), counts["all"])


def test_rings_make_the_outside(done):
    spot = next(spot for spot in read_local(Run(done)) if spot.ratio == 0.5)
    rings = [counts for zone, counts in spot.perturbed.items() if zone.startswith("distance-")]
    assert np.array_equal(sum(rings), spot.perturbed["outside"])


def test_empty_zones_are_not_nought_but_unknown_and_counted(done):
    nothing, everything = (next(spot for spot in read_local(Run(done)) if spot.ratio == ratio) for ratio in (0, 1))
    assert math.isnan(nothing.score("accuracy", "inside"))
    assert math.isnan(nothing.rce("accuracy", "inside"))
    assert (nothing.empty("inside"), nothing.empty("outside")) == (3, 0)
    assert nothing.rce("accuracy", "outside") == 0
    assert math.isnan(everything.rce("accuracy", "outside"))
    assert (everything.empty("inside"), everything.empty("outside")) == (0, 3)


def test_attacks_together_beat_each_outside(done):
    by_goal = {spot.goal: spot for spot in read_local(Run(done)) if spot.what.startswith("2 x")}
    together = by_goal["cumulative-2"].score("accuracy", "outside")
    assert together <= min(by_goal[f"attack-{number}"].score("accuracy", "outside") for number in (1, 2))
    assert by_goal["cumulative-2"].rce("accuracy", "aim") > 0


def test_stored_results_verify(done):
    verdicts = verify(done)
    assert all(verdict.sound for verdict in verdicts), [verdict.faults for verdict in verdicts]
    assert sum(verdict.checked for verdict in verdicts) == 3 * (1 + 8 + 1 + 2)


class TestVerifyingSeveralAttacks:
    """Whoever changes what attacks have fooled, or where they acted, is found out."""

    @pytest.fixture
    def run(self, tmp_path):
        def make(**changes):
            specs = [multi_attack_spec(12, "centre", 3, "32/255", number=2) | changes]
            evaluate(plan(specs, limit=1), tmp_path / "run", ALONE)
            store = Store(tmp_path / "run")
            return store, next(cell for cell in store.cells() if cell.perturbation["kind"] == "multi-attack")

        return make

    @staticmethod
    def faults(store):
        return [fault for verdict in verify(store.folder) for fault in verdict.faults]

    @staticmethod
    def shard(store, cell):
        kinds = ("images", "counts", "objects")
        return Shard(**{kind: store.table(cell, kind).to_pylist() for kind in kinds}, kept=store.arrays(cell, "kept"))

    @pytest.mark.parametrize(("every_iterate", "more"), [(False, 1), (False, -1), (True, 999)])
    def test_pixels_fooled_together_are_counted_again(self, run, every_iterate, more):
        store, cell = run(every_iterate=every_iterate)
        assert self.faults(store) == []
        shard = self.shard(store, cell)
        wanted = ("cumulative-2", "perturbed", "all")
        row = next(row for row in shard.counts if (row["goal"], row["state"], row["zone"]) == wanted and row["hits"])
        row["hits"] += more
        store.add(cell, shard)
        fit(store.folder)
        assert any("(cumulative-2): stored" in fault for fault in self.faults(store))

    def test_a_change_outside_the_region_is_seen(self, run):
        store, cell = run()
        shard = self.shard(store, cell)
        key = next(key for key in shard.kept if key.startswith("attack-1"))
        image = shard.kept[key].copy()
        image[:, 0, 0] = np.where(image[:, 0, 0] > 0.5, image[:, 0, 0] - 0.01, image[:, 0, 0] + 0.01)
        shard.kept[key] = image
        store.add(cell, shard)
        fit(store.folder)
        assert any("pixels changed outside the region" in fault for fault in self.faults(store))


def test_the_region_is_stored_beside_the_pictures(done):
    run = Run(done)
    cell = next(c for c in run.cells if (c.perturbation.get("region") or {}).get("ratio") == 0.5)
    _, maps = run.photographs(cell, run.kept(cell)[:1])
    (inside,) = (labels for key, labels in maps.items() if key.startswith("inside|"))
    assert inside.sum() == 8 * 8 * 8, "half of the sixteen patches"
    assert any(frame.region is not None for scene in scenes(run) for frame in scene.frames.values())


def test_of_several_attacks_the_last_is_shown_with_what_all_have_fooled(tmp_path):
    evaluate(plan([multi_attack_spec(12, "centre", 1, "32/255", number=5)], limit=2), tmp_path / "run", ALONE)
    run = Run(tmp_path / "run")
    struck = {frames.image: frames.strikes for frames in read_strikes(run)}
    shown = {scene.image: next(iter(scene.frames.values())) for scene in scenes(run)}
    assert len(struck) == len(shown) == 2
    for image, frame in shown.items():
        assert np.array_equal(frame.perturbed, struck[image][-1].perturbed)
        assert np.array_equal(frame.prediction, struck[image][-1].together)
        assert frame.together


def test_the_page_has_its_tables_figures_and_pictures(done):
    page = spatial_report(Run(done))
    text = page.read_text()
    for name in ("scores", "overview", "common", "attacked"):
        assert f"tables/{name}.csv" in text
    for name in ("severity", "ratio", "attacks", "distances"):
        assert f"figures/{name}.svg" in text
        assert (page.parent / "figures" / f"{name}.pdf").stat().st_size > 1000
    pictures = list((page.parent / "gallery").iterdir())
    assert pictures
    assert all(f"gallery/{picture.name}" in text for picture in pictures)
    rows = list(csv.DictReader((page.parent / "tables" / "scores.csv").open()))
    empty = next(row for row in rows if row["region"].startswith("0 of patches"))
    assert (empty["rce_inside"], empty["empty_inside"]) == ("", "3")


def test_images_are_corrupted_before_they_are_resized(tmp_path):
    data = f"{DATA}&resize=16x16"
    for stage in ("native", "network"):
        specs = corruption_specs(["gaussian_noise"], [3], [None], stage=stage)
        evaluate(plan(specs, data=[data], keep_images=True), tmp_path / stage, ALONE)
    noise = {}
    for stage in ("native", "network"):
        store = Store(tmp_path / stage)
        cell = next(cell for cell in store.cells() if cell.perturbation["kind"] == "corrupt")
        source = load(data)
        kept = store.arrays(cell, "kept")
        clean = {id_: resize_images(source.read(id_).image[None], source.resize)[0].numpy() for id_ in source.ids()}
        noise[stage] = np.mean([np.std(image - clean[key.partition("|")[2]]) for key, image in kept.items()])
        assert {row["height"] for row in store.table(cell, "images").to_pylist()} == {16}
    assert 0.3 < noise["native"] / noise["network"] < 0.7  # a mean of about four pixels halves the noise


def test_masks_that_cannot_be_used_are_errors_of_their_image_only(tmp_path):
    folder = write_folder(tmp_path / "data", [(16, 16)] * 3)
    ids = load(f"folder:{folder}?classes=7&ignore=255").ids()
    masks = tmp_path / "regions"
    masks.mkdir()
    Image.fromarray(np.full((16, 16), 255, dtype=np.uint8)).save(masks / f"{ids[0]}.png")
    Image.fromarray(np.full((8, 16), 255, dtype=np.uint8)).save(masks / f"{ids[1]}.png")
    specs = corruption_specs(["contrast"], [3], [{"kind": "masks", "folder": str(masks)}])
    run = evaluate(plan(specs, data=[f"folder:{folder}?classes=7&ignore=255"]), tmp_path / "run", ALONE)
    assert len(run.errors) == 2
    assert any("expected 16 x 16" in line for line in run.errors)
    assert any("is missing" in line for line in run.errors)
    (spot,) = read_local(Run(tmp_path / "run"))
    assert len(spot.clean["all"]) == 1


@pytest.mark.parametrize("kind", ["masks", "frost"])
def test_other_files_are_another_question(tmp_path, kind):
    folder = tmp_path / "files"
    folder.mkdir()
    ids = load(DATA).ids()

    def paint(value):
        for id_ in ids:
            Image.fromarray(np.full((32, 32), value, dtype=np.uint8)).save(folder / f"{id_}.png")

    asked = {
        "masks": corruption_specs(["contrast"], [3], [{"kind": "masks", "folder": str(folder)}]),
        "frost": corruption_specs([f"frost?photographs={folder}"], [3], [None]),
    }[kind]
    paint(100)
    evaluate(plan(asked), tmp_path / "run", ALONE)
    paint(100)
    evaluate(plan(asked), tmp_path / "run", ALONE)
    paint(200)
    with pytest.raises(BadInput, match="holds another plan"):
        evaluate(plan(asked), tmp_path / "run", ALONE)


def test_a_sweep_of_weights_is_nought_at_its_ends(tmp_path):
    mixed = mixtures("compact:cnn-normal", "compact:transformer-normal", [0.5])
    assert list(mixed) == [0.0, 0.5, 1.0]
    specs = corruption_specs(["snow"], [3], patch_regions([0.5], 8))
    specs.append(multi_attack_spec(12, "centre", 2, "16/255", 2))
    evaluate(plan(specs, models=list(mixed.values()), limit=1), tmp_path / "run", ALONE)
    second, _, first = steps_of(read_local(Run(tmp_path / "run")), mixed)
    assert (second.weight, second.natural.value) == (0.0, 0.0)
    assert (first.weight, first.adversarial.value) == (1.0, 0.0)
    assert min(first.clean.value, second.clean.value) == 0


def test_a_target_is_counted_and_shown(tmp_path):
    specs = [multi_attack_spec(12, "centre", 2, "64/255", 2, target=target) for target in (None, "3")]
    evaluate(plan(specs, limit=2), tmp_path / "run", ALONE)
    run = Run(tmp_path / "run")
    free, aimed = ([spot for spot in read_local(run) if bool(spot.wanted) == targeted] for targeted in (False, True))
    assert {spot.what for spot in free} != {spot.what for spot in aimed}, "their results would be taken for one"
    assert all(spot.goal == other.goal for spot, other in zip(free, aimed, strict=True))
    shares = [spot.score("accuracy", "outside", "wanted") for spot in aimed if spot.together]
    assert shares == sorted(shares), "what is reached stays"
    (clean,) = {spot.score("accuracy", "outside", "wanted_clean") for spot in aimed}
    assert clean == _share_of_class(run, 3), "the clean prediction, of the same pixels"
    assert not any(spot.wanted_clean for spot in free)
    wanted = [frames.wanted for frames in read_strikes(run)]
    assert [one is None for one in wanted] == [True, True, False, False]
    assert set(np.unique(np.stack(wanted[2:]))) <= {-1, 3}
    text = spatial_report(run).read_text()
    assert "not at its target" in text
    table = list(csv.DictReader((tmp_path / "run/spatial/tables/attacked.csv").open()))
    assert [bool(row["reached_single"]) for row in table] == [False, True]
    assert all(verdict.sound for verdict in verify(tmp_path / "run"))


def _share_of_class(run, class_):
    """Share of the pixels outside of the region that the clean prediction shows as one class."""
    cell = next(cell for cell in run.cells if not cell.is_clean)
    _, maps = run.photographs(cell, run.kept(cell))
    outside = {id_: maps[f"inside|{id_}"] == 0 for id_ in run.kept(cell)}
    shown = np.concatenate([maps[f"clean|{id_}"][mask] for id_, mask in outside.items()])
    return float((shown == class_).mean())


class TestCommands:
    MODEL = ("--model", "compact:cnn-normal", "--data", DATA)

    def test_spatial(self, segstress, tmp_path):
        said = segstress(
            *("spatial", *self.MODEL, "--corruption", "snow", "--severity", "3", "--patch", "8", "--masks", "2"),
            *("--mode", "bernoulli", "--limit", "1", "--workers", "1"),
        )
        assert said.code == 0
        assert "runs/spatial/spatial/index.html" in said.out.replace("\n", "")
        assert "by chance" in (tmp_path / "runs/spatial/spatial/tables/scores.csv").read_text()

    def test_corrupt(self, segstress, tmp_path):
        said = segstress("corrupt", "--data", DATA, "--corruption", "noise", "--limit", "1", "--export", "corrupted")
        assert said.code == 0
        assert len(list((tmp_path / "corrupted").rglob("*.png"))) == 3

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--ratio", "1.5"), "ratio"),
            (("--severity", "6"), "severity"),
            (("--severity", "strong"), "expected numbers separated by commas"),
            (("--corruption", "fogg"), "did you mean 'fog'?"),
            (("--battery", "nowhere"), "unknown battery 'nowhere'; known: ensemble"),
            (("--apply", "halves"), "apply"),
            (("--apply", "patches", "--ratio", "0.5,whole"), "apply=patches needs a region made of rectangles"),
            (("--severity", ""), "expected one number or more"),
            (("--ratio", ""), "expected --ratio with one share or more"),
            (("--mode", "sometimes"), "mode"),
        ],
    )
    def test_mistakes_are_named(self, segstress, words, message):
        said = segstress("spatial", *self.MODEL, *words)
        assert said.code == 2
        assert message in said.err
        assert "Traceback" not in said.err

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--box", "wide"), "expected numbers separated by commas, found 'wide'"),
            (("--box", "0"), "expected whole numbers above 0"),
            (("--steps", "2.5"), "expected whole numbers above 0"),
            (("--eps", "much"), "eps: expected a number or a fraction"),
            (("--position", "middle"), "position"),
            (("--loss", "two-terms"), "did you mean 'two-term'?"),
        ],
    )
    def test_mistakes_about_attacks_are_named(self, segstress, words, message):
        said = segstress("multi-attack", *self.MODEL, *words)
        assert said.code == 2
        assert message in said.err
        assert "unexpected" not in said.err

    def test_what_cannot_be_mixed_or_compared_is_named_before_the_run(self, segstress):
        pair, whole = ("compact:cnn-normal", "compact:transformer-normal"), ("--data", DATA)
        for words, message in (
            ((pair[0], pair[0], *whole), "expected two models that differ"),
            ((*pair, *whole, *whole), "expected one dataset"),
            ((*pair, *whole, "--severity", ""), "expected one number or more"),
            ((*pair, *whole, "--battery", "localized-shapes"), "expected corruptions of a region and a multi-attack"),
        ):
            said = segstress("ensemble", *words)
            assert said.code == 2, words
            assert message in said.err
        assert not Path("runs").exists(), "something was measured"

    def test_the_terminal_ends_with_what_the_page_begins_with(self, segstress, tmp_path):
        said = segstress(
            *("ensemble", "compact:cnn-normal", "compact:transformer-normal", "--data", DATA, "--weights", "0:1:1"),
            *("--corruption", "contrast", "--patch", 8, "--box", 12, "--steps", 1, "--number", 1, "--limit", 2),
            *("--workers", 1),
        )
        assert said.code == 0, said.err
        (line,) = (line for line in said.out.splitlines() if "The larger of the two errors is smallest" in line)
        assert line in (tmp_path / "runs/ensemble/spatial/index.html").read_text()
        assert "Intervals of all of them are on the page" in said.out

    @pytest.mark.parametrize("words", [("--weights", "0:2:0.5"), ("--weights", "0:1"), ("--weights", "0:1:0")])
    def test_mistakes_about_weights_are_named(self, segstress, words):
        said = segstress("ensemble", "compact:cnn-normal", "compact:transformer-normal", "--data", DATA, *words)
        assert said.code == 2
        assert "expected" in said.err
        assert "unexpected" not in said.err

    def test_a_patch_larger_than_the_image_is_cut_and_said(self, segstress):
        said = segstress(
            *("spatial", *self.MODEL, "--corruption", "contrast", "--severity", "1", "--patch", "500"),
            *("--limit", "1", "--workers", "1"),
        )
        assert said.code == 0
        assert "500 x 500 pixels do not fit into 32 x 32, so they are cut" in said.out.replace("\n", "")
