"""The papers' protocols: each is read as the paper has it, and runs on a tiny folder of its data's layout."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from tests.conftest import net

from segstress.core import BadInput, perturbations
from segstress.data import datasets
from segstress.evaluation import evaluate
from segstress.models import models
from segstress.planning.papers import named_plan, paper, papers
from segstress.runtime import RunOptions

SIDES = (24, 32)
SMALL = {"voc": "centre-crop-16", "ade20k": "centre-crop-16", "cityscapes": "16x24"}
EVALUATIONS = [name for name in papers() if paper(name).page != "contest"]
LONGEST = 3  # steps of an attack in the short runs
CLASSES = {"voc": 21, "cityscapes": 19, "ade20k": 151}


def write(path: Path, labels: int | None = None) -> None:
    """Write a photograph, or a mask of the labels below a number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(len(path.name))
    pixels = random.integers(0, 256, (*SIDES, 3)) if labels is None else random.integers(0, labels, SIDES)
    Image.fromarray(pixels.astype(np.uint8)).save(path)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one image of each dataset where the plans look for it."""
    home = tmp_path_factory.mktemp("home")
    voc, streets, scenes = (
        home / "data" / name for name in ("VOCdevkit/VOC2012", "cityscapes", "ADEChallengeData2016")
    )
    for split, name in (("train", "2007_000032"), ("val", "2007_000033")):
        write(voc / "JPEGImages" / f"{name}.jpg")
        write(voc / "SegmentationClass" / f"{name}.png", 21)
        (voc / "ImageSets/Segmentation").mkdir(parents=True, exist_ok=True)
        (voc / "ImageSets/Segmentation" / f"{split}.txt").write_text(f"{name}\n")
    sbd = home / "data/benchmark_RELEASE/dataset"
    (sbd / "cls").mkdir(parents=True)
    savemat(sbd / "cls/2008_000008.mat", {"GTcls": {"Segmentation": np.full(SIDES, 13, dtype=np.uint8)}})
    write(voc / "JPEGImages/2008_000008.jpg")
    (sbd / "train.txt").write_text("2008_000008\n")
    (sbd / "val.txt").write_text("2007_000033\n")
    for split in ("train", "val"):
        write(streets / f"leftImg8bit/{split}/ulm/ulm_0_leftImg8bit.png")
        write(streets / f"gtFine/{split}/ulm/ulm_0_gtFine_labelIds.png", 34)
    for split in ("training", "validation"):
        write(scenes / "images" / split / "a.jpg")
        write(scenes / "annotations" / split / "a.png", 151)
    return home


def changes(name: str) -> dict[str, Any]:
    """Small images, a small network, one radius."""
    data = paper(name).plan["data"]
    sort = datasets.read(data)["kind"].split("-")[0]
    small = data if name.startswith("ddc-at") else f"{data}?resize={SMALL[sort]}"
    network = f"{net('Tiny')}?classes={CLASSES[sort]}"
    radii, target = paper(name).plan.get("eps"), paper(name).plan.get("target")
    wanted = f"{target}&resize={SMALL[sort]}" if isinstance(target, str) else None
    eps = radii[:1] if isinstance(radii, list) else None
    return {"models": [network], "data": [small], "eps": eps, "target": wanted}


def shortened(change: Any) -> dict[str, Any]:
    """The same perturbation in fewer steps."""
    spec = perturbations.spec(change)
    algorithm = spec.get("algorithm", spec.get("attack"))
    for inner in (algorithm, (algorithm or {}).get("attack")):
        if isinstance(inner, dict) and "steps" in inner:
            inner["steps"] = min(LONGEST, inner["steps"])
    return spec


def test_every_protocol_is_there() -> None:
    sizes = ("voc-512", "voc-473", "cityscapes-512x1024", "cityscapes-1024x2048", "ade20k-512")
    assert all(any(name.endswith(size) for name in papers()) for size in sizes)


@pytest.mark.parametrize("name", EVALUATIONS)
def test_its_models_are_settings_that_exist(name: str) -> None:
    plan = paper(name).plan
    built = [models.build(spec) for spec in ([plan["models"]] if isinstance(plan["models"], str) else plan["models"])]
    assert all(model.label for model in built)
    assert all("weights/" in str(model) or "hf:" in plan["models"] for model in built), "says where weights lie"


@pytest.mark.parametrize("name", EVALUATIONS)
def test_it_runs_on_a_folder_of_that_layout(
    name: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    plan, _ = named_plan(Path(name), changes(name))
    short = [shortened(change) for change in plan.changes()]
    asked = {"models": plan.models, "data": plan.data, "perturbations": short, "seed": plan.seed}
    done = evaluate(asked, tmp_path / "run", RunOptions(workers=1))
    assert not done.errors


def test_settings_of_the_papers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    protocol, page = named_plan(Path("sea-voc-473"), {})
    assert (page, protocol.seed, protocol.battery) == ("study", 225, "sea")
    assert [round(255 * eps) for eps in protocol.eps] == [4, 8, 12]
    assert datasets.build(protocol.data[0]).void == "none"
    harder, _ = named_plan(Path("trying-harder-cityscapes-512x1024"), {})
    assert len(harder.changes()) == 11
    assert all(change.threat is None or change.threat.radius == 8 / 255 for change in harder.changes())
    assert named_plan(Path("alma-prox-voc-512"), {})[1] == "minimal"
    searches = named_plan(Path("alma-prox-voc-512-targeted"), {})[0].changes()[1:]
    assert {search.threat.target.label for search in searches} == {"class 0"}
    streets = named_plan(Path("alma-prox-cityscapes-1024x2048-targeted"), {})[0].changes()[1:]
    assert {(search.threat.target.smooth, search.threat.target.data.split) for search in streets} == {(33, "train")}
    assert all(named_plan(Path(name), {})[0].exhaustive for name in ("sea-voc-473", "sea-ade20k-512"))
    assert {paper(name).images for name in EVALUATIONS if "voc" in name} == {1449}
    ddc = models.build(named_plan(Path("ddc-at-cityscapes-449"), {})[0].models[0]).interface()
    assert (ddc.window, ddc.mirror, ddc.average, ddc.long_side) == ((449, 449), True, "softmax", 1024)


def test_the_command_line_puts_model_and_data_in(segstress, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    model = f"{net('Tiny')}?classes=21&long_side=40&window=24&mirror=true&average=softmax"
    said = segstress("run", "ddc-at-voc-473", "--model", model, "--workers", 1)
    assert said.code == 0, said.err
    assert (home / "runs/ddc-at-voc-473/report/index.html").is_file()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("sea-voc-437", r"unknown plan 'sea-voc-437'; did you mean 'sea-voc-473'\?"),
        ("mine.yaml", "mine.yaml cannot be read: .*expected a YAML plan"),
    ],
)
def test_a_plan_that_is_neither_a_file_nor_a_paper_is_refused(name: str, line: str) -> None:
    with pytest.raises(BadInput, match=line):
        named_plan(Path(name), {})


def test_a_plan_of_the_user_takes_the_same_changes(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("{models: compact:cnn-normal, data: shapes:test, perturbations: pgd, eps: 0.1}")
    plan, page = named_plan(tmp_path / "mine.yaml", {"data": ["shapes:val"], "limit": 2, "models": None})
    assert (plan.models, plan.data, plan.limit, page) == (["compact:cnn-normal"], ["shapes:val"], 2, "study")


def test_what_a_protocol_costs_can_be_asked(segstress, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    said = segstress("plan", "ddc-at-voc-473", "--model", f"{net('Tiny')}?classes=21")
    assert said.code == 0, said.err
    assert "pgd" in said.out


def test_the_pages_first_command_works_with_data_elsewhere(segstress, home: Path) -> None:
    """Its words with the paths of this machine, and what it would cost in place of the run."""
    page = (Path(__file__).parents[3] / "docs/reproduce.md").read_text(encoding="utf-8")
    (first,) = re.findall(r"^ {4}segstress run (sea-voc-473 .*\n.*)$", page, re.M)
    places = {
        "/disk/VOC2012": str(home / "data/VOCdevkit/VOC2012"),
        "/disk/SBD": str(home / "data/benchmark_RELEASE/dataset"),
        "factory:nets.py:upernet?weights=t.pth&": f"{net('Tiny')}?",
    }
    for theirs, ours in places.items():
        assert theirs in first
        first = first.replace(theirs, ours)
    said = segstress("plan", *shlex.split(first.replace("\\\n", " ")))
    assert said.code == 0, said.err
    assert "sea" in said.out
