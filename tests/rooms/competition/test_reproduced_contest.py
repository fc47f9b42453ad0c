"""A paper's competition: held up to where people judge, and its places beside ours once they have."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from tests.conftest import Said, write_folder

from segstress.cli import mad
from segstress.contests.places import places
from segstress.contests.plan import read_contest
from segstress.contests.protocol import completed
from segstress.core import BadInput
from segstress.data import datasets
from segstress.planning.papers import named_plan, paper
from segstress.planning.published import published

PROTOCOL = paper("mad-voc-512")


def said_in_one_line(said: Said) -> str:
    assert said.code == 2
    return " ".join(said.err.replace("│", " ").split())


def ranked(folder: Path, text: str | None = None) -> Path:
    """A competition of FCN and of a model with another name than the paper's."""
    ranking = {
        "images": 30,
        "rankings": {
            "aggressiveness": {"FCN": {"rank": 8, "band": [7, 9]}, "mine": {"rank": 2, "band": [1, 2]}},
            "resistance": {"FCN": {"rank": 10, "band": [9, 10]}, "mine": {"rank": 1}},
        },
    }
    (folder / "report").mkdir(parents=True)
    (folder / "report/ranking.json").write_text(json.dumps(ranking) if text is None else text)
    return folder


def test_a_competition_is_compared_by_its_places(segstress, tmp_path: Path) -> None:
    said = segstress("reproduce", "mad")
    assert said.code == 2
    assert "expected a finished competition: give --data POOL and two" in " ".join(said.err.split())
    named = re.findall(r"mad (\w+)", " ".join(said.err.split()))
    assert named == ["index", "predict", "compare", "select", "rank"]
    assert set(named) <= mad.COMMANDS.keys()
    ranked(tmp_path / "done")
    said = segstress("reproduce", "mad", "--out", "done", "--name", "PSPNet=mine")
    assert said.code == 0, said.err
    assert "16 of 20 figures have no counterpart." in said.out
    rows = {row["figure"]: row for row in csv.DictReader((tmp_path / "done/published.csv").open())}
    assert float(rows["aggressiveness FCN"]["deviation"]) == -2
    assert [float(rows["aggressiveness FCN"][key]) for key in ("images", "low", "high")] == [30, 7, 9]
    assert (rows["resistance PSPNet"]["ours"], rows["resistance PSPNet"]["ours_model"]) == ("1", "mine")
    assert rows["aggressiveness ESPNetv2"]["ours"] == ""


@pytest.mark.parametrize(
    ("standing", "line"),
    [
        ({"FCM": "mine"}, "--name FCM=mine: expected a model of the paper's and one of ours: the paper has DeepLabv3"),
        ({"PSPNet": "yours"}, "--name PSPNet=yours: expected .* RefineNet.* has FCN, mine"),
        ({"FCN": "mine"}, None),
    ],
)
def test_a_name_stands_for_one_that_is_there(tmp_path: Path, standing: dict[str, str], line: str | None) -> None:
    folder, model = ranked(tmp_path / "done"), published("mad").of("pascal-voc")
    if line is None:
        assert places(folder, model, standing, PROTOCOL).value("resistance FCN").value == 1
        return
    with pytest.raises(BadInput, match=line):
        places(folder, model, standing, PROTOCOL)


def test_a_competition_of_other_models_alone_is_refused_with_both_sides_names(segstress, tmp_path: Path) -> None:
    ranked(tmp_path / "done", json.dumps({"rankings": {"resistance": {"mine": {"rank": 1}}}}))
    said = said_in_one_line(segstress("reproduce", "mad", "--out", "done"))
    assert "DeepLabv3+, EMANet, PSANet" in said
    assert "done has mine" in said
    said = said_in_one_line(segstress("reproduce", "mad", "--out", "done", "--name", "FCN"))
    assert "--name FCN: expected the paper's name and ours" in said


@pytest.mark.parametrize("text", ["{}", "[]", "{", '{"rankings": {"resistance": {"FCN": {}}}}', '{"rankings": 3}'])
def test_a_damaged_ranking_is_one_line(segstress, tmp_path: Path, text: str) -> None:
    ranked(tmp_path / "done", text)
    said = said_in_one_line(segstress("reproduce", "mad", "--out", "done"))
    assert "ranking.json is damaged" in said
    assert "segstress mad rank" in said


MODELS = ("--model", "compact:cnn?classes=21", "--model", "compact:transformer?classes=21")


def test_a_competition_is_held_judged_and_compared(segstress, tmp_path: Path) -> None:
    write_folder(tmp_path / "pool", [(24, 32), (32, 24), (28, 28)], classes=21)
    pool = "folder:pool?ignore=255&resize=24x24"
    asked = ("reproduce", "mad", "--data", pool, *MODELS, "--workers", "1", "--name", "FCN=cnn")
    folder = "runs/reproduce-mad-pascal-voc"
    said = segstress(*asked)
    assert said.code == 0, said.err
    assert f"segstress mad rank {folder} --judge masks" in said.out
    assert said.out.strip().endswith(f"segstress reproduce mad --out {folder} --name FCN=cnn")
    assert not (tmp_path / folder / "published.csv").exists(), "nobody has judged"
    assert segstress("mad", "rank", folder, "--draws", "10").code == 0
    said = segstress(*asked, "--json")
    assert said.code == 0, said.err
    compared = json.loads(said.out)
    assert {row["figure"] for row in compared["published"] if row["ours"] is not None} == {
        "aggressiveness FCN",
        "resistance FCN",
    }
    assert re.search(r"among 2 models; images: \d+\. The paper: among 10 models; images: 833\.", compared["note"])
    assert "pool was not released" in compared["note"]
    assert "Otherwise than by the protocol: resize 24x24, not 512x512." in compared["note"]
    assert compared["published"][0]["data"] == "pool-24x24"


def test_a_competition_asks_what_the_protocol_asks(segstress, tmp_path: Path) -> None:
    write_folder(tmp_path / "pool", [(24, 32), (32, 24)])
    said = segstress("reproduce", "mad", "--data", "folder:pool?masks=none", *MODELS, "--workers", "1")
    assert said.code == 0, said.err
    contest = read_contest(tmp_path / "runs/reproduce-mad-pascal-voc")
    assert (contest.scale, contest.metric, contest.rule.chosen) == ("voc", "miou", 1)
    data = contest.data()
    assert (str(data.resize), len(data.classes), data.background) == ("512x512", 21, 0)


def test_a_name_of_no_model_is_refused_before_any_work(segstress, tmp_path: Path) -> None:
    write_folder(tmp_path / "pool", [(24, 32), (32, 24)])
    asked = ("reproduce", "mad", "--data", "folder:pool?masks=none", *MODELS, "--name", "FCN=zzz")
    said = said_in_one_line(segstress(*asked, "--workers", "1"))
    assert "--name FCN=zzz: expected one of our models; this competition has cnn, transformer" in said
    assert not list(tmp_path.glob("runs/*/index.parquet"))


def test_a_finished_competition_brings_its_plug_ins(segstress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "_entries", dict(datasets._entries))  # other tests must not meet it
    ranked(tmp_path / "done")
    plan = {"models": ["a", "b"], "pool": "pictures-of-tests", "metric": "fwiou", "scale": "none"}
    (tmp_path / "done/contest.yaml").write_text(json.dumps(plan | {"plugins": ["mine.py"]}))
    (tmp_path / "mine.py").write_text(
        "from segstress.data import datasets\nfrom segstress.data.shapes import Shapes\n"
        "datasets.preset('pictures-of-tests', Shapes, 'Of tests', split='test')\n"
    )
    said = segstress("reproduce", "mad", "--out", "done", "--json")
    assert said.code == 0, said.err
    other = "metric fwiou, not miou; scale none, not voc; resize none, not 512x512; other classes."
    assert json.loads(said.out)["note"].endswith(f"Otherwise than by the protocol: {other}")


def test_what_a_pool_says_itself_stays(tmp_path: Path) -> None:
    usual = PROTOCOL.plan["pool"]
    own = completed("folder:pool?masks=none&classes=11&resize=none", usual)
    assert (len(own["classes"]), own["background"], own["resize"]) == (11, None, "none")
    (tmp_path / "names.txt").write_text("\n".join(usual["classes"]))
    assert completed(f"folder:pool?masks=none&classes={tmp_path}/names.txt", usual)["background"] == 0
    assert completed("folder:pool?ignore=255", usual)["classes"] == usual["classes"]
    assert completed("voc:VOC2012", usual)["resize"] == "512x512"
    assert completed("voc-512:VOC2012", usual)["resize"] == "short-512"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--data", "shapes:pool?count=2"), "two --model or more; found 1 and 0"),
        (("--data", "shapes:pool?count=2", "--model", "compact:cnn"), "two --model or more; found 1 and 1"),
        (MODELS, "two --model or more; found 0 and 2"),
        (("--data", "shapes:pool?count=2", "--weights", "w.pth", *MODELS), "--weights: of no use in a competition"),
        (("--threads", "2"), "--threads: only for a competition that is held now; give --data"),
        (("--limit", "2"), "--limit: of no use in a competition"),
        (("--name", "FCM=a"), "--name FCM=a: expected the paper's name and ours, such as"),
        (("--name", "FCN=a", "--name", "PSPNet=a"), "a is named twice; every model stands for one"),
        (("--name", "FCN=a", "--name", "FCN=b"), "FCN is named twice; every model stands for one"),
    ],
)
def test_what_a_competition_lacks_or_ignores_is_one_line(segstress, words: tuple[str, ...], line: str) -> None:
    assert line in said_in_one_line(segstress("reproduce", "mad", *words))


def test_classes_that_the_bounds_do_not_fit_are_refused_before_any_work(segstress, tmp_path: Path) -> None:
    pair = ("--model", "compact:cnn-normal", "--model", "compact:unet-normal")
    said = said_in_one_line(segstress("reproduce", "mad", "--data", "shapes:pool?count=2&size=32", *pair))
    assert "scale table: unknown class 'aeroplane'; the classes are background, disc" in said
    assert not (tmp_path / "runs").exists()


def test_a_competition_is_no_plan_of_an_evaluation() -> None:
    with pytest.raises(BadInput, match="mad-voc-512 is of a competition; hold it by segstress reproduce mad"):
        named_plan(Path("mad-voc-512"), {})


def test_a_model_that_stands_for_another_is_not_its_namesake_too(tmp_path: Path) -> None:
    ours = places(ranked(tmp_path / "done"), published("mad").of("pascal-voc"), {"PSPNet": "FCN"}, PROTOCOL)
    assert set(ours.figures) == {"aggressiveness PSPNet", "resistance PSPNet"}
