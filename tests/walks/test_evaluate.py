"""The straight line, end to end: what a run says does not depend on how it was carried out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.conftest import net, write_folder
from tests.forging import fit

from segstress.data import load as load_data
from segstress.data.packed_arrays import pack, unpack
from segstress.evaluation import evaluate
from segstress.evaluation.referee import Referee
from segstress.evaluation.report import figures, studies
from segstress.evaluation.schedule import chains
from segstress.evaluation.verify import verify
from segstress.models import load as load_model
from segstress.planning import read_plan
from segstress.runtime import RunOptions, Store

ALONE = RunOptions(workers=1)
METRICS = [
    name + zone for zone in ("", "_foreground") for name in ("accuracy", "accuracy_image_mean", "cmiou", "nmiou")
]


def plan(**changes):
    return {
        "models": [net("tiny")],
        "data": ["shapes:test?count=4&size=24"],
        "perturbations": ["pgd?steps=4", "pgd-rp?steps=4"],
        "eps": "8/255",
        **changes,
    }


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """One finished run that several tests look at."""
    folder = tmp_path_factory.mktemp("done") / "run"
    evaluate(plan(), folder, ALONE)
    return folder


def test_json_has_the_promised_shape(done):
    (run,) = json.loads(json.dumps(figures([done])))["runs"]
    assert {"model", "data", "eps", "clean", "perturbations", "worst_case", "definitions"} <= set(run)
    assert run["eps"] == pytest.approx(8 / 255)
    assert list(run["perturbations"]) == ["pgd(steps=4)", "pgd-rp(steps=4)"]
    for part in (run["clean"], run["worst_case"], *run["perturbations"].values()):
        assert set(METRICS) <= set(part)
        assert all(0 <= part[name] <= 1 for name in METRICS)
    for values in run["perturbations"].values():
        assert (values["images"], values["errors"]) == (4, 0)
        assert (values["forwards"], values["backwards"]) == (4 * 6, 4 * 4)
    assert "absent=present" in run["definitions"]["nmiou"]


def test_worst_case_is_at_most_every_candidate(done):
    (run,) = figures([done])["runs"]
    for name in METRICS:
        candidates = [run["clean"][name], *(values[name] for values in run["perturbations"].values())]
        assert run["worst_case"][name] <= min(candidates) + 1e-12, name
    assert run["worst_case"]["accuracy"] < run["clean"]["accuracy"]
    assert run["worst_case"]["cmiou_bound"] <= run["worst_case"]["cmiou"]


def test_what_is_kept_of_objects_is_what_both_maps_have_right(done):
    store = Store(done)
    for cell in store.cells():
        maps = store.arrays(cell, "maps")
        for key in (key for key in maps if key.split("|")[0] in ("any", "accuracy", "miou")):
            goal, image = key.split("|")
            truth, clean = maps[f"truth|{image}"], maps[f"clean|{image}"]
            both = (truth > 0) & (clean == truth) & (maps[key] == truth)
            rows = [
                row for row in store.table(cell, "objects").to_pylist() if (row["goal"], row["image"]) == (goal, image)
            ]
            assert sum(row["kept"] for row in rows) == both.sum()


def test_unlike_sizes_in_one_run_equal_single_runs(tmp_path):
    whole = write_folder(tmp_path / "whole", [(16, 20), (24, 16), (12, 12), (16, 20)])
    evaluate(plan(data=[f"folder:{whole}?classes=7&ignore=255"]), tmp_path / "together", ALONE)
    (together,) = studies([tmp_path / "together"])
    for place, name in enumerate(together.ids):
        for kind in ("images", "masks"):
            target = tmp_path / name / kind
            target.mkdir(parents=True)
            (target / f"{name}.png").write_bytes((whole / kind / f"{name}.png").read_bytes())
        evaluate(plan(data=[f"folder:{tmp_path / name}?classes=7&ignore=255"]), tmp_path / f"run-{name}", ALONE)
        (alone,) = studies([tmp_path / f"run-{name}"])
        for one, many in zip(alone.outcomes, together.outcomes, strict=True):
            for key, counts in one.counts.items():
                assert np.array_equal(counts[0], many.counts[key][place]), (name, key)


def test_batch_size_changes_rounding_only(tmp_path):
    for size in (1, 8):
        numerics = {"batch_size": size, "dtype": "float64"}
        evaluate(plan(numerics=numerics), tmp_path / str(size), RunOptions(workers=1, shard_size=8))
    one, eight = (studies([tmp_path / str(size)])[0] for size in (1, 8))
    for first, second in zip(one.outcomes, eight.outcomes, strict=True):
        for key, counts in first.counts.items():
            assert np.array_equal(counts, second.counts[key]), key
        for row, other in zip(first.rows, second.rows, strict=True):
            assert row.linf == pytest.approx(other.linf, abs=1e-9)
            assert row.l2 == pytest.approx(other.l2, abs=1e-9)


@pytest.mark.parametrize("shard_size", [1, 4, 9])
def test_as_many_images_meet_the_model_as_asked_whatever_the_shard(shard_size, tmp_path, monkeypatch):
    batches = []
    referee = Referee.__call__
    monkeypatch.setattr(
        Referee, "__call__", lambda self, samples: (batches.append(len(samples)), referee(self, samples))[1]
    )
    asked = plan(data=["shapes:test?count=11&size=16"], perturbations=[], numerics={"batch_size": 6})
    evaluate(asked, tmp_path / "run", RunOptions(workers=1, shard_size=shard_size))
    assert sorted(batches) == [5, 6]


def test_batch_size_on_an_embedded_model(tmp_path):
    worst = []
    for size in (1, 8):
        asked = plan(
            models=["compact:cnn-normal"],
            data=["shapes:test?count=8&size=48"],
            perturbations=["segpgd?steps=10"],
            numerics={"batch_size": size},
        )
        evaluate(asked, tmp_path / str(size), RunOptions(workers=1, shard_size=8))
        worst.append(figures([tmp_path / str(size)])["runs"][0]["worst_case"]["accuracy"])
    assert abs(worst[0] - worst[1]) < 0.005


def lead(logits, labels):
    """By how much the logit of the truth exceeds the largest other one, pixel by pixel."""
    true = torch.nn.functional.one_hot(labels, len(logits)).permute(2, 0, 1).bool()
    return (logits * true).sum(0) - logits.masked_fill(true, -torch.inf).amax(0)


def test_margins_of_standing_pixels_are_those_of_the_kept_images(done):
    model, data, store = load_model(net("tiny")), load_data("shapes:test?count=4&size=24"), Store(done)
    (cell,) = (cell for cell in store.cells() if cell.names["perturbation"].startswith("pgd("))
    images, rows = store.arrays(cell, "kept"), store.table(cell, "images").to_pylist()
    assert len(rows) == 8
    for row in rows:
        sample, seen = data.read(row["image"]), torch.from_numpy(images[f"{row['goal']}|{row['image']}"])
        with torch.no_grad():
            clean, after = (lead(model(each[None])[0], sample.labels) for each in (sample.image, seen))
        remaining = after[after > 0] / clean.abs().mean()
        assert row["correct"] == len(remaining)
        assert row["valid"] == sample.labels.numel()
        found = [row[f"margin_{share}"] for share in (10, 50, 90)]
        assert found == pytest.approx(np.percentile(remaining.numpy(), [10, 50, 90]).tolist(), rel=1e-4)


def test_stored_results_verify(done):
    verdicts = verify(done)
    assert [verdict.faults for verdict in verdicts] == [()] * 4
    assert sum(verdict.checked for verdict in verdicts) == 4 + 2 * 2 * 4


@pytest.mark.parametrize("spoil", ["outside the ball", "outside the box", "another prediction"])
def test_spoilt_results_are_found(spoil, tmp_path):
    evaluate(plan(perturbations=["pgd?steps=4"], limit=1), tmp_path / "run", ALONE)
    path = next((tmp_path / "run" / "cells").glob("*pgd*/kept-*.zst"))
    images = unpack(path.read_bytes())
    key = next(key for key in images if key.startswith("accuracy"))
    changed = images[key].copy()
    if spoil == "outside the ball":
        changed[:, 3, 3] = 1 - changed[:, 3, 3].round()
    elif spoil == "outside the box":
        changed[0, 0, 0] = -0.01
    else:
        changed = changed + (0.5 - changed) * 0.01
    path.write_bytes(pack(images | {key: changed.astype(np.float32)}))
    fit(tmp_path / "run")
    assert any(not verdict.sound for verdict in verify(tmp_path / "run"))


def test_without_kept_images_a_share_is_attacked_again(tmp_path):
    evaluate(plan(data=["shapes:test?count=30&size=16"], perturbations=["pgd?steps=2"]), tmp_path / "run", ALONE)
    verdicts = verify(tmp_path / "run")
    assert all(verdict.sound for verdict in verdicts)
    attacked = next(verdict for verdict in verdicts if "pgd" in verdict.cell)
    assert attacked.checked == 2 * 24
    for path in (tmp_path / "run" / "cells").glob("*pgd*/kept-*.zst"):
        path.unlink()
    for path in (tmp_path / "run" / "cells").glob("*pgd*/sums-*.json"):
        path.unlink()
    fit(tmp_path / "run")
    again = next(verdict for verdict in verify(tmp_path / "run") if "pgd" in verdict.cell)
    assert again.checked == 0
    assert 0 < again.repeated < 15
    assert again.sound


@pytest.fixture
def battery(tmp_path):
    path = tmp_path / "three.yaml"
    attacks = ["pgd-masked?steps=20", "pgd?steps=20", "cospgd?steps=20&step=null"]
    path.write_text(f"about: three\nperturbations: {attacks}\n")
    return str(path)


class TestBattery:
    """Later attacks of a battery are spared the images that an earlier one finished."""

    def asked(self, battery, **changes):
        return plan(perturbations=[], battery=battery, eps="160/255", data=["shapes:test?count=6&size=16"], **changes)

    def test_sparing_keeps_accuracy_and_nmiou(self, battery, tmp_path):
        evaluate(self.asked(battery), tmp_path / "spared", RunOptions(workers=1, shard_size=2))
        evaluate(self.asked(battery, exhaustive=True), tmp_path / "whole", RunOptions(workers=1))
        spared, whole = (figures([tmp_path / name])["runs"][0] for name in ("spared", "whole"))
        for name in ("accuracy", "nmiou"):
            assert spared["worst_case"][name] == whole["worst_case"][name]
        passes = [sum(v["forwards"] for v in run["perturbations"].values()) for run in (spared, whole)]
        assert passes[0] < passes[1], "nothing was spared"
        store = Store(tmp_path / "spared")
        finishers = {row["finisher"] for cell in store.cells() for row in store.table(cell, "images").to_pylist()} - {
            ""
        }
        assert finishers
        assert finishers <= {cell.key for cell in store.cells()}

    def test_exhaustive_later_fills_the_gaps(self, battery, tmp_path):
        alone = {"numerics": {"batch_size": 1}}  # what was spared is answered without those that were not
        evaluate(self.asked(battery) | alone, tmp_path / "run", ALONE)
        evaluate(self.asked(battery, exhaustive=True) | alone, tmp_path / "run", ALONE)
        evaluate(self.asked(battery, exhaustive=True) | alone, tmp_path / "whole", ALONE)
        later, whole = (figures([tmp_path / name]) for name in ("run", "whole"))
        assert later == whole

    def test_done_at_spares_more_and_bounds_what_that_costs(self, battery, tmp_path):
        asked = self.asked(battery) | {"data": ["shapes:test?count=4&size=24"], "eps": "60/255"}
        for name, share in (("strict", "0"), ("loose", "60%")):
            evaluate(asked | {"done_at": share}, tmp_path / name, ALONE)
        evaluate(asked | {"exhaustive": True}, tmp_path / "whole", ALONE)
        strict, loose, whole = (figures([tmp_path / name])["runs"][0] for name in ("strict", "loose", "whole"))
        answers = [sum(v["images"] for v in run["perturbations"].values()) for run in (strict, loose)]
        assert answers[1] < answers[0]
        assert set(whole["worst_case_slack"].values()) == {0.0}
        for run in (strict, loose):
            for name, slack in run["worst_case_slack"].items():
                assert run["worst_case"][name] - whole["worst_case"][name] <= slack + 1e-12, name
        assert strict["worst_case_slack"]["accuracy"] == strict["worst_case_slack"]["nmiou"] == 0
        assert loose["worst_case"]["accuracy"] > whole["worst_case"]["accuracy"], "the bound was not put to a test"

    @pytest.mark.parametrize("changes", [{"eps": None}, {"target": 2}])
    def test_only_attacks_after_wrong_pixels_spare_each_other_images(self, changes, tmp_path):
        """A smaller delta, or another prediction, may be found where no pixel is right."""
        path = tmp_path / "two.yaml"
        path.write_text("perturbations: ['ddn-auto?steps=2', 'fmn?steps=2']\n")
        asked = read_plan(self.asked(str(path)) | changes)
        assert [len(chain) for chain in chains(asked, asked.cells(), chained=True)] == [1, 1, 1]
        plain = read_plan(self.asked(str(path)))
        assert [len(chain) for chain in chains(plain, plain.cells(), chained=True)] == [1, 2]

    def test_the_terminal_prints_the_bound_beside_the_figures(self, battery, segstress):
        words = ("--model", net("tiny"), "--data", "shapes:test?count=3&size=16", "--battery", battery)
        said = segstress("attack", *words, "--eps", "160/255", "--done-at", "60%", "--out", "run", "--workers", 1)
        assert said.code == 0
        assert "spared, at most" in said.out
        whole = segstress("attack", *words, "--eps", "160/255", "--exhaustive", "--out", "whole", "--workers", 1)
        assert "spared, at most" not in whole.out


def test_several_radii_make_several_studies(tmp_path):
    evaluate(plan(eps="1/255,8/255", perturbations=["pgd?steps=4"]), tmp_path / "run", ALONE)
    small, large = figures([tmp_path / "run"])["runs"]
    assert (small["eps"], large["eps"]) == (pytest.approx(1 / 255), pytest.approx(8 / 255))
    assert large["worst_case"]["accuracy"] < small["worst_case"]["accuracy"] <= small["clean"]["accuracy"]


def test_a_plug_in_attack_runs_in_workers_too(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from segstress.attacks import attacks\n"
        "from segstress.attacks.algorithms.pgd import PGD\n"
        "attacks.preset('mine', PGD, 'PGD of my own', steps=3, loss='cospgd')\n"
    )
    asked = plan(perturbations=["mine"], plugins=[str(tmp_path / "mine.py")])
    evaluate(asked, tmp_path / "run", RunOptions(workers=2, shard_size=2))
    (run,) = figures([tmp_path / "run"])["runs"]
    assert run["perturbations"]["mine"]["images"] == 4


def test_import_is_light():
    heavy = "import sys, segstress; print([name for name in ('torch', 'numpy', 'pydantic') if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", heavy], text=True).strip() == "[]"


def test_command_line_lists_plans_and_reports(segstress):
    words = (
        "--model",
        net("tiny"),
        "--data",
        "shapes:test?count=2&size=16",
        "--attack",
        "pgd?steps=2",
        "--eps",
        "8/255",
    )
    planned = segstress("plan", *words)
    assert planned.code == 0
    assert "8" in planned.out
    Path("audited.yaml").write_text("base: published\naudit: 10%\nspend: 40%\n")
    words_of_a_choice = [*words[:4], "--battery", "audited.yaml", *words[6:]]
    assert "at most 40% of this" in " ".join(segstress("plan", *words_of_a_choice).out.split())
    assert segstress("attack", *words, "--out", "run", "--workers", "1").code == 0
    assert Path("run/report/index.html").exists()
    assert segstress("report", "run", "--out", "elsewhere").code == 0
    assert sorted(path.suffix for path in Path("elsewhere/tables").iterdir())[0] == ".csv"
    assert segstress("verify", "run").code == 0
    for sort in ("attacks", "losses", "models", "datasets", "regions", "batteries", "metrics"):
        assert segstress("list", sort).code == 0
    assert "segpgd" in segstress("list", "attacks").out
