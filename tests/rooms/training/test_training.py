"""Training as a job: what it leaves, what it refuses, and what it says when things go wrong."""

from __future__ import annotations

import errno
import json
import os

import pytest
import torch
from safetensors.torch import load_file, save_file

from segstress import load_model
from segstress.core import BadInput, to_plain
from segstress.fitting.plan import read_training_plan, training_plans
from segstress.fitting.train import train
from segstress.training import Watcher

from .conftest import NETWORKS
from .networks import grouped


def test_the_checkpoint_is_a_model(quick, tmp_path):
    made = train(quick(probe="pgd?steps=2&eps=8/255"), tmp_path, command="segstress train x")
    card = json.loads(made.with_suffix(".json").read_text())
    assert card["command"] == "segstress train x"
    assert card["plan"]["seed"] == 0
    assert card["epoch"] == 2
    assert set(card["validation"]) == {"clean", "pgd(steps=2) linf 8/255"}
    logits = load_model(f"checkpoint:{made}")(torch.rand(1, 3, 24, 24))
    assert logits.shape == (1, 7, 24, 24)


def test_training_teaches(quick, tmp_path):
    entries = []
    plan = quick(recipe="normal", model="compact:cnn", data="shapes:train?count=16&size=32", epochs=12, every=12)
    train(plan, tmp_path, Watcher(epoch=entries.append))
    assert entries[-1]["loss"] < 0.8 * entries[0]["loss"]
    assert ["validation" in entry for entry in entries] == [False] * 11 + [True]


def test_another_seed_is_another_training(quick, tmp_path):
    made = [train(quick(seed=seed), tmp_path / str(seed)).read_bytes() for seed in (0, 1)]
    assert made[0] != made[1]


def test_ddc_leaves_a_plain_network(quick, tmp_path):
    made = train(quick(recipe="ddc-at", start=f"factory:{NETWORKS}:restless"), tmp_path)
    assert load_model(f"checkpoint:{made}")(torch.rand(1, 3, 24, 24)).shape[1] == 7


def test_mixed_precision_stays_close(quick, tmp_path):
    losses = []
    watcher = Watcher(step=lambda moment: losses.append(moment.loss))
    plans = [quick(recipe="normal", model=f"factory:{NETWORKS}:grouped", mixed=mixed) for mixed in (False, True)]
    for number, plan in enumerate(plans):
        train(plan, tmp_path / str(number), watcher)
    full, mixed = losses[: len(losses) // 2], losses[len(losses) // 2 :]
    assert full != mixed
    assert full == pytest.approx(mixed, rel=0.02)


def test_a_robust_backbone_fills_all_but_the_heads(quick, tmp_path):
    weights = {name: tensor + 1 for name, tensor in grouped().features.state_dict().items()}
    save_file(weights | {"classifier.weight": torch.zeros(2)}, tmp_path / "robust.safetensors")
    spec = {"path": str(tmp_path / "robust.safetensors"), "part": "features"}
    plan = quick(backbone=spec)
    network = grouped()
    plan.backbone.fill(network)
    assert all(tensor.equal(weights[name]) for name, tensor in network.features.state_dict().items())
    assert network.main.weight.equal(grouped().main.weight)
    with pytest.raises(BadInput, match=r"does not fit: features.0.weight is missing"):
        quick(backbone={"path": spec["path"]}).backbone.fill(network)
    with pytest.raises(BadInput, match="no part 'encoder'; its parts are features, main, deep"):
        quick(backbone=spec | {"part": "encoder"}).backbone.fill(network)


def test_a_backbone_under_other_names_is_renamed(quick, tmp_path):
    weights = {f"stem.{name}": tensor + 1 for name, tensor in grouped().features.state_dict().items()}
    save_file(weights, tmp_path / "robust.safetensors")
    spec = {"path": str(tmp_path / "robust.safetensors"), "part": "features"}
    network = grouped()
    quick(backbone=spec | {"rename": {"stem.": ""}}).backbone.fill(network)
    assert network.features[0].weight.equal(weights["stem.0.weight"])
    with pytest.raises(BadInput, match=r"rename: no name begins with 'trunk.'"):
        quick(backbone=spec | {"rename": {"trunk.": ""}}).backbone.fill(network)


def test_a_backbone_may_be_that_of_a_model(quick):
    network = grouped()
    quick(backbone={"model": f"factory:{NETWORKS}:moved"}).backbone.fill(network)
    assert network.features[0].weight.equal(grouped().features[0].weight + 1)
    assert network.main.weight.equal(grouped().main.weight)
    for neither in ({}, {"path": "a.pth", "model": "compact:cnn"}):
        with pytest.raises(BadInput, match="path of its weights or a model that has it, one of the two"):
            quick(backbone=neither)


def test_the_command_line_names_a_file_for_the_backbone(tmp_path):
    def backbone(text, plan="voc-pspnet"):
        return to_plain(read_training_plan(plan, {"backbone": text}).backbone)

    file = {"path": "mine.pth", "model": None, "key": "state_dict", "part": "network.backbone", "rename": {}}
    assert backbone("mine.pth") == file
    assert backbone("mine.pth?key=model.ema&part=backbone") == file | {"key": "model.ema", "part": "backbone"}
    assert backbone("s3://bucket/mine.pth") == file | {"path": "s3://bucket/mine.pth"}
    assert backbone("mine.pth", "matched-pir-at") == file | {"key": "", "part": ""}
    for model in ("compact:cnn-normal", "factory:nets.py:small?classes=3", "mine?width=3", "mine"):
        assert backbone(model) == {"path": None, "model": model, "key": "", "part": "", "rename": {}}
    (tmp_path / "mine").touch()
    assert backbone(str(tmp_path / "mine"))["path"] == str(tmp_path / "mine")
    assert backbone("mine.pth?rename=stem.:stem_,old.:")["rename"] == {"stem.": "stem_", "old.": ""}
    assert backbone("mine.pth", "voc-pir-at-upernet")["rename"] == {"stem.": "stem_", "stages.": "stages_"}
    assert backbone("mine.pth?rename=", "voc-pir-at-upernet")["rename"] == {}
    with pytest.raises(BadInput, match=r"training plan: backbone.kee: .*, found 'a'"):
        backbone("mine.pth?kee=a")


def test_a_file_given_for_the_backbone_is_what_training_begins_with(segstress, tmp_path):
    words = ["train", "--model", f"factory:{NETWORKS}:grouped", "--data", "shapes:train?count=4&size=24"]
    words += ["--recipe", "pir-at", "--batch-size", 4, "--epochs", 1, "--out", "mine"]
    refused = segstress(*words, "--backbone", "robust.pth")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "backbone 'robust.pth' does not exist; expected a .safetensors or torch file, or a model" in refused.err
    torch.save({"ema": {name: tensor + 9 for name, tensor in grouped().features.state_dict().items()}}, "robust.pth")
    done = segstress(*words, "--backbone", "robust.pth?key=ema&part=features")
    assert done.code == 0, done.err
    assert "warning" not in done.out + done.err
    assert load_file("mine/last.safetensors")["features.0.weight"].min() > 8


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"recipe": "pir-at"}, "neither backbone nor start"),
        ({"recipe": {"kind": "pir-at", "share": 0.5}}, "neither backbone nor start"),
        ({"recipe": "pir-at", "start": f"factory:{NETWORKS}:restless"}, ""),
        ({"recipe": "pir-at", "backbone": {"model": f"factory:{NETWORKS}:restless"}}, ""),
        ({"model": f"factory:{NETWORKS}:plain", "optimiser": "sgd"}, "heads=10 of the optimiser has no effect"),
        ({"model": f"factory:{NETWORKS}:plain", "optimiser": "adamw?heads=2"}, "heads=2 of the optimiser has no"),
        (
            {"model": f"factory:{NETWORKS}:plain?mean=0.5", "optimiser": "sgd"},
            "heads=10 of the optimiser has no effect",
        ),
        ({"model": f"factory:{NETWORKS}:plain", "optimiser": "sgd?heads=1"}, ""),
        ({"model": f"factory:{NETWORKS}:plain"}, ""),
        ({"optimiser": "sgd"}, ""),
    ],
)
def test_what_is_likely_meant_otherwise_is_said_and_recorded(quick, tmp_path, changes, warning):
    told = []
    made = train(quick(epochs=1, validation=None, **changes), tmp_path, Watcher(warn=told.append))
    assert [warning in message for message in told] == [True] * bool(warning)
    assert json.loads(made.with_suffix(".json").read_text()).get("warnings", []) == told


def test_a_loss_that_is_not_a_number_keeps_the_last_good_checkpoint(quick, tmp_path):
    plan = quick(model=f"factory:{NETWORKS}:doomed", recipe="normal")
    with pytest.raises(
        BadInput, match=r"after step 4: the loss is nan .* the checkpoint before stays in .*smaller rate"
    ):
        train(plan, tmp_path)
    for name in ("last", "state"):
        assert all(tensor.isfinite().all() for tensor in load_file(tmp_path / f"{name}.safetensors").values())


def test_weights_that_explode_are_not_kept(quick, tmp_path):
    with pytest.raises(BadInput, match=r"training stopped after step \d+: "):
        train(quick(optimiser="sgd?rate=1e30", recipe="normal"), tmp_path)
    assert not (tmp_path / "last.safetensors").exists()


def test_a_folder_belongs_to_one_recipe(quick, tmp_path):
    train(quick(epochs=1), tmp_path)
    with pytest.raises(BadInput, match=r"holds another training \(recipe .* -> normal\); choose another --out"):
        train(quick(epochs=1, recipe="normal"), tmp_path)


def test_a_refused_training_leaves_its_folder_free(segstress, tmp_path):
    words = ["train", "--batch-size", 4, "--epochs", 1, "--out", "mine"]
    good = ["--data", "shapes:train?count=4&size=24"]
    for wrong in (
        ["--data", "shapes:trian"],
        [*good, "--share", 2, "--recipe", "pgd-at"],
        [*good, "--start", "no.pth"],
    ):
        assert segstress(*words, *wrong).code == 2
    done = segstress(*words, *good)
    assert done.code == 0, done.err
    refused = segstress(*words, *good, "--seed", 1)
    assert "holds another training (seed 0 -> 1)" in refused.err


def test_a_training_that_was_stopped_before_its_first_state_may_be_another(quick, tmp_path):
    def stop(moment):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(quick(), tmp_path, Watcher(step=stop))
    assert train(quick(epochs=1), tmp_path).is_file()


@pytest.mark.parametrize("left", ["state", "last", "best"])
def test_what_a_training_left_is_not_overwritten_by_another(quick, tmp_path, left):
    train(quick(epochs=1), tmp_path)
    for name in {"state", "last", "best"} - {left}:
        (tmp_path / f"{name}.safetensors").unlink()
    with pytest.raises(BadInput, match=r"holds another training \(seed 0 -> 1\)"):
        train(quick(epochs=1, seed=1), tmp_path)


def test_the_folder_of_a_run_is_not_taken(quick, tmp_path):
    (tmp_path / "plan.yaml").write_text("models: [compact:cnn-normal]\ndata: shapes:test\n")
    with pytest.raises(BadInput, match=r"plan.yaml is no plan of a training; choose another --out"):
        train(quick(), tmp_path)
    assert "compact:cnn-normal" in (tmp_path / "plan.yaml").read_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": "shapes:pool?count=12&size=24"}, "no labelled pixel in its first 8 images; training needs masks"),
        ({"data": "shapes:train?count=3&size=24"}, "has 3 images, fewer than one batch of 4"),
        ({"model": f"factory:{NETWORKS}:grouped?classes=5"}, "gives 5 classes, shapes-train has 7"),
        ({"start": f"factory:{NETWORKS}:restless?classes=5"}, "do not fit: main.weight has shape"),
        ({"validation": "folder"}, "have other classes; validate on images of the same"),
        ({"device": "nowhere"}, "device 'nowhere' cannot be used: .*; try --device cpu"),
        ({"recipe": "pdg-at"}, "did you mean 'pgd-at'"),
        ({"recipe": {"kind": "pgd-at", "attack": "pdg?eps=8/255"}}, "unknown attack 'pdg'"),
    ],
)
def test_refused_before_the_first_step(quick, folder, tmp_path, changes, message):
    steps = []
    if changes.get("validation"):
        changes = {"validation": folder[1]}
    with pytest.raises(BadInput, match=message):
        train(quick(**changes), tmp_path, Watcher(step=steps.append))
    assert not steps


@pytest.mark.parametrize("after", [0, 3, 6])
def test_disk_full(quick, tmp_path, monkeypatch, after):
    train(quick(), tmp_path / "whole")
    left, flush = iter(range(after)), os.fsync

    def full(handle):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(BadInput, match=r"cannot write .*No space left on device"):
            train(quick(), tmp_path / "full")
    made = train(quick(), tmp_path / "full")
    assert made.read_bytes() == (tmp_path / "whole" / made.name).read_bytes()


def test_every_plan_of_the_zoo_is_valid():
    assert "cnn-normal" in training_plans()
    for name in training_plans():
        plan = read_training_plan(name, {})
        assert "test" not in f"{plan.data} {plan.validation}"  # nothing is chosen on the test split


def test_the_command_line_changes_a_plan():
    plan = read_training_plan("cnn-pgd-at-50", {"share": 0.25, "attack": "segpgd?steps=7&eps=0.03", "epochs": 3})
    assert plan.recipe == {"kind": "pgd-at", "share": 0.25, "attack": "segpgd?steps=7&eps=0.03"}
    assert (plan.epochs, plan.start) == (3, "compact:cnn-normal")
    with pytest.raises(BadInput, match=r"training plan: epochs: .* found 0"):
        read_training_plan("cnn-normal", {"epochs": 0})


def test_the_command(segstress, tmp_path):
    words = ["--data", "shapes:train?count=4&size=24", "--validation", "shapes:val?count=1&size=24", "--batch-size", 4]
    done = segstress("train", "--recipe", "pgd-at", "--share", 0.5, "--epochs", 1, "--out", "mine", *words)
    assert done.code == 0, done.err
    assert "epoch 1: loss" in done.out
    assert "segstress attack --model checkpoint:mine/last.safetensors" in done.out
    assert "segstress report mine" in done.out
    page = segstress("report", "mine")
    assert page.code == 0, page.err
    assert "of validation pixels are right" in (tmp_path / "mine" / "report" / "index.html").read_text()
    told = json.loads(segstress("report", "mine", "--json").out)
    assert [entry["epoch"] for entry in told["history"]] == [1]
    assert segstress("report", "mine", "mine").code == 2
    refused = segstress("train", "--recipe", "pgd-at", "--share", 2, "--out", "other", *words)
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert "share" in refused.err
    assert segstress("train", "nowhere.yaml").code == 2


def test_the_command_shows_warnings(segstress):
    words = ["--data", "shapes:train?count=4&size=24", "--batch-size", 4, "--epochs", 1]
    done = segstress("train", "--recipe", "pir-at", *words)
    assert (done.code, done.out.count("warning: pir-at is published on features")) == (0, 1)


def test_plans_of_trainings_are_listed(segstress):
    listed = json.loads(segstress("list", "trainings", "--json").out)
    assert set(listed) == set(training_plans())
    assert listed["cnn-pgd-at-100"] == "Every image under PGD, begun with a normal network."
    assert listed["voc-pir-at-pspnet"].endswith("(a ResNet-50 of Salman et al. 2020), heads fresh.")
    assert all(about.endswith(".") and len(about) < 220 for about in listed.values())
