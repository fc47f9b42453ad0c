"""A paper's published figures beside ours."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from PIL import Image
from tests.conftest import Said, net

from segstress.core import BadInput
from segstress.data import datasets
from segstress.evaluation import evaluate
from segstress.evaluation.deviation import Ours, compare, split_of, target_of
from segstress.evaluation.reproduce import measured
from segstress.metrics.intervals import Interval
from segstress.planning.papers import paper, papers
from segstress.planning.published import Published, PublishedModel, published, published_names
from segstress.planning.weighting import class_weights
from segstress.reports.kit.table import Table
from segstress.results.run import Run
from segstress.runtime import RunOptions

DATA = "shapes:test?count=2&size=32"
PAPERS = ["mad", "proximal-splitting", "sea", "spatial", "trying-harder"]


def run(folder: Path, *changes: object, **more: object) -> Path:
    """Evaluate a tiny network on two images."""
    plan = {"models": [net("tiny")], "data": [DATA], "perturbations": list(changes), "exhaustive": True, **more}
    evaluate(plan, folder, RunOptions(workers=1))
    return folder


def test_every_paper_is_there() -> None:
    assert published_names() == PAPERS
    assert not set(published_names()) & set(papers()), "figures are no protocols"


@pytest.mark.parametrize("name", PAPERS)
def test_every_figure_names_its_table_and_its_protocol(name: str) -> None:
    found = published(name)
    assert "arXiv:" in found.about
    for model in found.models.values():
        assert all(source.startswith(("table ", "section ")) for source in (model.source, *model.by_attack))
        assert model.figures
        if name != "mad":
            protocol = paper(model.plan)
            named = protocol.plan["models"]
            assert len(protocol.networks) == (1 if isinstance(named, str) else len(named))
            assert model.model < len(protocol.networks)
            assert model.network


@pytest.mark.parametrize(
    ("name", "model", "figure", "value"),
    [
        ("trying-harder", "voc-pspnet-pgd-at-100", "8/255 accuracy", 39.25),
        ("trying-harder", "cityscapes-deeplabv3-segpgd-at-100", "8/255 nmiou", 21.82),
        ("trying-harder", "voc-deeplabv3-normal", "clean nmiou_zero_foreground", 42.89),
        ("sea", "ade20k-segmenter-vit-s-pir-at", "8/255 cmiou", 5.3),
        ("proximal-splitting", "cityscapes-segformer-b3", "alma-prox median", 0.33),
        ("trying-harder", "voc-upernet-convnext-t-sea-at", "8/255 nmiou_zero_foreground", 7.31),
        ("trying-harder", "voc-upernet-convnext-s-sea-at", "8/255 accuracy", 70.57),
        ("trying-harder", "voc-upernet-convnext-t-normal", "clean cmiou_foreground", 80.55),
        ("trying-harder", "voc-pspnet-pgd-at", "8/255 accuracy of pdpgd(norm_weight=ratio)", 35.68),
        ("trying-harder", "voc-deeplabv3-ddc-at", "8/255 cmiou of padam-ce", 6.79),
        (
            "trying-harder",
            "voc-pspnet-segpgd-at-100",
            "8/255 nmiou_zero_foreground of sea-bce(progressive=False)",
            6.21,
        ),
        ("proximal-splitting", "cityscapes-deeplabv3plus-r50b-targeted", "pgd-13x40 median", 3.49),
        ("proximal-splitting", "cityscapes-segformer-b0-targeted", "dag(steps=500, step=0.001) mean", 145.61),
        ("proximal-splitting", "voc-fcn-hr48-targeted", "pdpgd(norm_weight=ratio) mean", 0.46),
        ("spatial", "pspnet", "gaussian_noise 5 outside", 59.8),
        ("spatial", "bisenet-x39", "clean", 70.6),
        ("spatial", "ddrnet-23-slim", "snow 3 outside", 63.5),
        ("spatial", "segformer-multi-attack", "200 px 16/255 rce of 5 attacks", 95),
        ("mad", "pascal-voc", "resistance BlitzNet", 2),
    ],
)
def test_figures_are_those_of_the_tables(name: str, model: str, figure: str, value: float) -> None:
    known = published(name)
    assert {own: found for own, found, _ in known.figures(known.of(model))}[figure] == value


# Rows as the papers print them.
BISENET_R18 = [
    *(78.0, 72.6, 76.0, 59.5, 71.5, 49.1, 67.9, 42.2, 68.7, 24.7, 64.2, 19.7, 62.0),
    *(66.4, 73.9, 42.4, 67.6, 21.5, 62.4),
]
PIDNET_L = [
    *(82.1, 77.2, 81.1, 60.9, 76.7, 47.3, 72.4, 47.7, 74.3, 24.9, 69.3, 19.0, 67.4),
    *(69.0, 79.5, 36.4, 71.7, 15.6, 63.3),
]
R50 = [
    *(0.47, 0.50, 0.59, 0.66, 0.37, 0.43, 0.50, 0.51, 0.62, 0.68, 0.87, 1.07),
    *(4.21, 4.50, 3.92, 4.21, 0.42, 0.45, 0.28, 0.36, 0.25, 0.26),
]
B3 = [
    *(51.73, 88.24, 2.54, 2.60, 1.87, 1.92, 255, 255, 3.98, 4.09, 255, 255),
    *(9.82, 10.06, 11.53, 119.47, 255, 255, 19.26, 19.20, 0.65, 0.66),
]
SEA_AT_SMALL = [
    *(93.10, 70.57, 88.53, 55.50, 73.53, 32.66, 81.76, 43.76, 75.11, 12.89, 43.48, 7.51),  # table 2
    *(90.66, 81.30, 79.99, 92.70, 92.68, 92.29, 73.29, 73.34, 79.81, 72.80),  # table 7, accuracy
    *(83.46, 71.84, 66.82, 85.74, 85.64, 84.87, 62.77, 61.95, 67.63, 60.37),
    *(65.18, 46.28, 43.82, 70.42, 70.31, 69.04, 35.82, 35.81, 44.71, 34.50),  # CmIoU
    *(72.38, 60.40, 54.90, 75.46, 75.32, 74.33, 50.06, 49.19, 55.66, 47.61),
    *(19.40, 15.52, 15.66, 20.21, 20.21, 19.96, 13.73, 13.93, 15.90, 13.63),  # NmIoU
    *(10.90, 10.00, 9.21, 11.31, 11.31, 11.10, 9.40, 9.25, 9.28, 9.24),
]
PSPNET = [
    *(91.85, 0, 68.87, 0, 70.70, 0, 87.63, 0, 78.84, 0, 43.41, 0),  # table 1
    *(0.91, 34.44, 0.01, 16.44, 6.36, 0.80, 0.03, 0.00, 0.00, 0.23),  # table 5
    *(0.14, 3.51, 0.00, 4.61, 1.60, 0.20, 0.04, 0.00, 0.00, 0.06),
    *(0.42, 14.14, 0.00, 11.61, 4.25, 0.41, 0.01, 0.00, 0.00, 0.09),
    *(0.45, 5.17, 0.00, 14.00, 5.16, 0.57, 0.11, 0.00, 0.00, 0.44),  # table 6
    *(0.18, 4.45, 0.00, 9.35, 3.49, 0.24, 0.08, 0.00, 0.00, 0.11),
    *(0.52, 6.11, 0.02, 7.02, 3.28, 0.27, 0.38, 0.00, 0.00, 0.48),
]
STREETS = [
    *(83.32, 69.84, 31.19, 20.29, 32.41, 22.67),  # table 1
    *(81.38, 72.40, 76.22, 83.35, 83.35, 82.56, 73.93, 75.82, 79.26, 74.41),  # table 4
    *(28.55, 20.88, 24.23, 31.18, 31.18, 30.12, 23.89, 25.39, 27.85, 24.05),
    *(30.38, 23.60, 26.59, 32.52, 32.52, 31.63, 26.28, 27.66, 29.52, 26.58),
]
SINGLE = {  # table 3: NmIoU of DeepLabv3 on Cityscapes, in the order of its rows
    "padam-ce": [1.39, 1.09, 0.31, 0.85, 20.66, 23.11],
    "padam-cos": [0.00, 0.64, 0.30, 0.43, 22.58, 25.40],
    "sea-jsd(progressive=False)": [0.67, 0.74, 0.58, 1.12, 17.15, 25.14],
    "sea-mce(progressive=False)": [1.51, 1.03, 0.67, 0.79, 18.13, 26.23],
    "sea-msl(track=masked-spherical, progressive=False)": [1.53, 0.73, 0.62, 0.83, 20.95, 28.41],
    "sea-bce(progressive=False)": [1.73, 2.81, 1.20, 2.43, 17.74, 25.48],
    "alma-prox(rate=0.0001)": [1.87, 1.35, 1.73, 1.37, 30.86, 30.53],
    "dag(step=0.001)": [5.48, 45.29, 35.25, 27.67, 33.51, 32.80],
    "dag": [1.04, 20.80, 13.24, 9.31, 33.51, 32.80],
    "pdpgd(norm_weight=ratio)": [1.48, 11.22, 9.88, 1.75, 32.34, 31.87],
}


def test_single_attacks_of_table_4_are_those_of_table_3() -> None:
    known, trained = published("trying-harder"), ("normal", "ddc-at", "pgd-at", "segpgd-at", "pgd-at-100")
    assert sorted(SINGLE) == sorted(known.attacks)
    for number, training in enumerate((*trained, "segpgd-at-100")):
        found = {name: value for name, value, _ in known.figures(known.of(f"cityscapes-deeplabv3-{training}"))}
        assert {attack: found[f"8/255 nmiou of {attack}"] for attack in SINGLE} == {
            attack: values[number] for attack, values in SINGLE.items()
        }


@pytest.mark.parametrize(
    ("name", "model", "total"),
    [  # added up once more from the papers' rows
        ("spatial", "bisenet-r18", BISENET_R18),
        ("spatial", "pidnet-l", PIDNET_L),
        ("proximal-splitting", "voc-deeplabv3plus-r50-targeted", R50),
        ("proximal-splitting", "cityscapes-segformer-b3-targeted", B3),
        ("trying-harder", "voc-upernet-convnext-s-sea-at", SEA_AT_SMALL),
        ("trying-harder", "voc-pspnet-normal", PSPNET),
        ("trying-harder", "cityscapes-pspnet-segpgd-at-100", STREETS),
    ],
)
def test_figures_of_a_model_add_up_to_those_of_the_tables(name: str, model: str, total: list[float]) -> None:
    known = published(name)
    assert sum(value for _, value, _ in known.figures(known.of(model))) == pytest.approx(sum(total))


def test_every_model_of_a_table_is_there() -> None:
    counts = {name: len(published(name).models) for name in PAPERS}
    assert counts == {"mad": 1, "proximal-splitting": 14, "sea": 12, "spatial": 15, "trying-harder": 28}
    assert all(model.by_attack for model in published("trying-harder").models.values())


def test_a_single_attack_without_its_figure_is_refused() -> None:
    model = {"source": "table 1", "plan": "mine", "figures": {}, "by_attack": {"table 2": {"8/255 nmiou": [1.0]}}}
    with pytest.raises(ValueError, match="mine: expected a value for each of 2 attacks, found 1"):
        Published(about="A paper", attacks=("a", "b"), models={"mine": PublishedModel(**model)})


def test_attacks_are_compared_clean_and_at_each_radius(tmp_path: Path) -> None:
    found = measured(run(tmp_path / "run", "pgd?steps=2", eps=["4/255", "8/255"]), "study")
    assert (found.images, found.model, found.data) == (2, "tiny", datasets.build(DATA))
    ours = {name: measure().value for name, measure in found.figures.items()}
    assert ours["8/255 accuracy of pgd(steps=2)"] >= ours["8/255 accuracy"]
    assert found.figures["8/255 accuracy"]().low <= ours["8/255 accuracy"] <= found.figures["8/255 accuracy"]().high
    asked = {figure for model in published("trying-harder").models.values() for figure in model.figures}
    asked |= {
        figure for model in published("sea").models.values() for figure in model.figures if "12/255" not in figure
    }
    assert asked <= ours.keys()
    assert 0 <= ours["8/255 accuracy"] <= ours["4/255 accuracy"] <= ours["clean accuracy"] <= 100
    assert 0 < ours["clean nmiou_zero_foreground"] < ours["clean nmiou_foreground"]


def test_searches_and_patches_are_compared_too(tmp_path: Path) -> None:
    search = {"attack": "alma-prox", "steps": 3, "enough": 0.99, "target": 1}
    searched = measured(run(tmp_path / "minimal", search), "minimal").figures
    assert list(searched) == ["alma-prox(steps=3) median", "alma-prox(steps=3) mean"], "the target goes without saying"
    assert all(measure().value > 0 for measure in searched.values())
    snow = {"kind": "corrupt", "corruption": "snow", "severity": 3, "region": {"kind": "patches", "size": 8}}
    damaged = measured(run(tmp_path / "spatial", snow), "spatial").figures
    assert list(damaged) == ["clean", "snow 3 inside", "snow 3 outside"]
    assert set(damaged) <= published("spatial").of("segformer-b0").figures.keys()


def test_every_figure_that_the_protocol_of_damage_asks_for_is_published_so(tmp_path: Path) -> None:
    damage = paper("spatial-localized-cityscapes-512x1024").plan["perturbations"]
    halves = [spec for spec in damage if spec["region"]["ratio"] == 0.5]
    folder = run(tmp_path / "run", *halves, data=["shapes:test?count=1&size=512"])
    for name, model in published("spatial").models.items():
        if model.plan == "spatial-localized-cityscapes-512x1024":
            assert set(measured(folder, "spatial").figures) == set(model.figures), name


def test_a_multi_attack_is_compared_outside_of_its_square(tmp_path: Path) -> None:
    box = {"kind": "box", "position": "centre", "height": 8, "width": 8}
    attack = {"kind": "multi-attack", "region": box, "threat": {"radius": "16/255"}, "attack": {"kind": "pgd-region"}}
    folder = run(tmp_path / "run", attack | {"number": 3}, attack | {"number": 5})
    ours = {name: measure().value for name, measure in measured(folder, "spatial").figures.items()}
    asked = {name.split(" ", 1)[1] for name in published("spatial").of("segformer-multi-attack").figures}
    assert {name.replace("32/255", "16/255") for name in asked} <= {name.removeprefix("8 ") for name in ours}
    assert 0 <= ours["8 px 16/255 cmiou"] <= ours["8 px clean cmiou"] <= 100
    lost = 100 * (1 - ours["8 px 16/255 cmiou"] / ours["8 px clean cmiou"])
    assert ours["8 px 16/255 rce of 3 attacks"] == pytest.approx(lost)


def given(**values: float) -> Ours:
    """Two images of ours, with bounds one to either side."""
    figures = {name: partial(Interval, value, value - 1, value + 1) for name, value in values.items()}
    return Ours(figures, 2, "tiny", data=datasets.build(DATA))


def records(table: Table) -> list[dict[str, object]]:
    return [dict(zip([column.key for column in table.columns], row, strict=True)) for row in table.rows]


def test_a_deviation_is_ours_minus_published_and_nothing_where_we_have_none() -> None:
    model = PublishedModel(
        source="table 9", plan="mine", figures={"a": 2.0, "b": 1.0}, by_attack={"table 10": {"c": (3.0,)}}
    )
    table = compare(Published(about="A paper", attacks=("pgd",), models={"mine": model}), "mine", given(a=2.5))
    first, *others = records(table)
    assert first == {
        "figure": "a",
        "model": "mine",
        "published": 2.0,
        "source": "table 9",
        "ours_model": "tiny",
        "ours": 2.5,
        "low": 1.5,
        "high": 3.5,
        "deviation": 0.5,
        "images": 2,
        "data": "shapes-test",
    }
    assert [row["figure"] for row in others] == ["b", "c of pgd"]
    assert all(row[key] != row[key] for row in others for key in ("ours", "low", "high", "deviation"))
    assert {(row["model"], row["ours_model"]) for row in others} == {("mine", "tiny")}
    assert table.title == "A paper; mine, beside ours of tiny"
    assert "2 of 3 figures have no counterpart." in table.note


NORMAL = "voc-pspnet-normal"


def note(ours: Ours, protocol: str = "trying-harder-voc-512") -> str:
    return compare(published("trying-harder"), NORMAL, ours, paper(protocol)).note


def test_fewer_images_or_others_than_the_protocols_are_said() -> None:
    assert "Another dataset: the protocol has voc-val-short-512, ours has shapes-test; deviations do" in note(given())
    assert "Fewer images: 2 of the protocol's 1449." in note(given())
    assert "Fewer" not in note(Ours({}, 1449))


@pytest.fixture
def voc(tmp_path: Path) -> Path:
    """Pascal VOC of one image, which both of its lists name, and not where the protocol has it."""
    root = tmp_path / "elsewhere"
    for place, name, mode in (("JPEGImages", "a.jpg", "RGB"), ("SegmentationClass", "a.png", "L")):
        (root / place).mkdir(parents=True)
        Image.new(mode, (24, 16)).save(root / place / name)
    (root / "cls").mkdir()
    (root / "cls/b.mat").touch()  # for SBD, of no image that a list names
    (root / "ImageSets/Segmentation").mkdir(parents=True)
    for split in ("train", "val"):
        (root / "ImageSets/Segmentation" / f"{split}.txt").write_text("a")
    return root


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("voc-512:{root}", ""),
        ("voc:{root}?resize=short-512", ""),
        ("voc-512:{root}?sbd={root}", ""),
        (
            "voc-512:{root}?split=train",
            "the protocol has voc-val-short-512 (split=val), ours has voc-train-short-512 (split=train);",
        ),
        (
            "voc-512:{root}?resize=short-64",
            "the protocol has voc-val-short-512 (resize=short-512), ours has voc-val-short-64 (resize=short-64);",
        ),
        (
            "voc-512:{root}?void_as_background=true",
            "voc-val-short-512 (void_as_background=False), ours has voc-val-short-512 (void_as_background=True);",
        ),
    ],
)
def test_the_protocols_dataset_is_known_wherever_it_lies(voc: Path, tmp_path: Path, spec: str, line: str) -> None:
    plan = {"models": [f"{net('Tiny')}?classes=21"], "data": [spec.format(root=voc)], "perturbations": []}
    evaluate(plan, tmp_path / "run", RunOptions(workers=1))
    said = note(measured(tmp_path / "run", "study"))
    assert line in said
    assert ("Another dataset" in said) == bool(line)


@pytest.mark.parametrize(
    ("target", "line"),
    [
        (
            "majority-smooth:cityscapes-1024x2048:elsewhere?split=train",
            "The target, majority of cityscapes-train-1024x2048, stands in for the map that the authors smoothed by",
        ),
        ("map:wanted.png?ignore=255", "is the paper's only if it was made of the map that the authors smoothed by"),
        (3, "Another target: the protocol has majority of cityscapes-train-1024x2048, ours has class 3."),
        (
            "majority:cityscapes-1024x2048:elsewhere?split=train",
            "majority of cityscapes-train-1024x2048 (smooth=33), ours has majority of cityscapes-train-1024x2048 (smoo",
        ),
    ],
)
def test_another_target_than_the_protocols_is_said(target: object, line: str) -> None:
    said = note(Ours({}, 500, target=target_of(target)), "alma-prox-cityscapes-1024x2048-targeted")
    assert line in said
    assert ("Another target" in said) == ("the protocol has" in said)
    assert line in said


def test_a_target_that_the_paper_has_itself_needs_no_word() -> None:
    assert "arget" not in note(Ours({}, 1449, target=target_of(0)), "alma-prox-voc-512-targeted")
    assert "Another target" in note(Ours({}, 1449, target=target_of(1)), "alma-prox-voc-512-targeted")


def test_other_class_weights_than_the_protocols_are_said() -> None:
    split = "voc:elsewhere?split={}&sbd=there&void_as_background=true"
    assert "Other class" not in note(Ours({}, weights=split_of(split.format("train_aug"))), "sea-voc-473")
    said = note(Ours({}, weights=split_of(split.format("val"))), "sea-voc-473")
    assert (
        "Other class weights: the protocol has voc-train_aug (split=train_aug), ours has voc-val (split=val)." in said
    )


@pytest.mark.parametrize(
    ("name", "model", "line"),
    [
        ("sae", None, "unknown paper 'sae'; known: mad"),
        ("sea", "mine", "the paper prints no 'mine'; it has voc-upernet"),
    ],
)
def test_what_no_paper_has_is_refused(name: str, model: str | None, line: str) -> None:
    with pytest.raises(BadInput, match=line):
        published(name).name(model)


AS = ("--as", "segformer-b0")


def said_in_one_line(said: Said) -> str:
    assert said.code == 2
    return " ".join(said.err.replace("│", " ").split())


def test_the_command_line_prints_both(segstress, tmp_path: Path) -> None:
    said = segstress(
        *("reproduce", "spatial", *AS, "--model", f"{net('tiny')}?classes=7", "--data", DATA, "--limit", "1"),
        *("--workers", "1"),
    )
    assert said.code == 0, said.err
    assert "Published" in said.out
    assert "segformer-b0, beside ours of tiny" in said.out
    with (tmp_path / "runs/reproduce-spatial-segformer-b0/published.csv").open() as file:
        rows = {row["figure"]: row for row in csv.DictReader(file)}
    assert float(rows["clean"]["published"]) == 79.3
    assert (rows["clean"]["images"], rows["clean"]["source"]) == ("1", "table 1")
    assert {(row["model"], row["ours_model"]) for row in rows.values()} == {("segformer-b0", "tiny")}
    assert float(rows["clean"]["deviation"]) == pytest.approx(float(rows["clean"]["ours"]) - 79.3, abs=1e-3)
    assert rows["snow 3 inside"]["ours"]
    assert not rows["snow 3 outside"]["ours"], "a patch is as large as the image"


@pytest.mark.parametrize("weights", [(), ("--weights", "mine.pth")])
def test_figures_of_another_network_than_the_protocols_want_a_model(segstress, weights: tuple[str, ...]) -> None:
    said = segstress("reproduce", "sea", "--as", "voc-pspnet-50-at", "--data", DATA, *weights)
    assert said.code == 2
    line = "the published figures are of pspnet-50, the network of sea-voc-473 is upernet-convnext-t; give"
    assert line in " ".join(said.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("name", "model", "network"),
    [
        ("trying-harder", "cityscapes-deeplabv3-segpgd-at-100", "deeplabv3"),
        ("sea", "ade20k-segmenter-vit-s-at", "segmenter-vit-s"),
        ("spatial", "deeplabv3-r", "deeplabv3-r"),
        ("proximal-splitting", "voc-fcn-hr48", "fcn-hr48"),
    ],
)
def test_a_published_model_says_which_network_it_is(name: str, model: str, network: str) -> None:
    assert published(name).of(model).network == network


def test_weights_for_a_network_that_comes_as_a_whole_are_refused(segstress) -> None:
    said = segstress("reproduce", "spatial", *AS, "--data", DATA, "--weights", "some.pth")
    assert said.code == 2
    line = "takes no --weights; give yours as --model hf:FOLDER, a folder with its configuration and weights"
    assert line in " ".join(said.err.replace("│", " ").split())


SEA = ("--as", "voc-upernet-convnext-t-at")


@pytest.fixture
def none_counted() -> None:
    """Forget class weights of other tests, which had the protocols' splits where they look for them."""
    class_weights.cache_clear()


@pytest.mark.usefixtures("none_counted")
def test_a_split_that_data_does_not_move_names_its_option(segstress) -> None:
    said = segstress("reproduce", "sea", *SEA, "--data", DATA, "--model", "compact:cnn")
    assert said.code == 2
    assert "data/VOCdevkit/VOC2012" in said.err
    assert "give yours by --class-weights" in said.err
    given = ("--as", "voc-fcn-hr48", "--data", "voc-512:nowhere", "--model", "compact:cnn")
    elsewhere = segstress("reproduce", "proximal-splitting", *given)
    assert elsewhere.code == 2
    assert "nowhere" in elsewhere.err
    assert "give yours by" not in elsewhere.err


def test_options_that_would_be_ignored_are_refused_by_name(segstress) -> None:
    options = ("--data", DATA, "--weights", "nothing.pth", "--model", "compact:cnn-normal", "--limit", "3")
    said = segstress("reproduce", "mad", *options, "--seed", "0", "--threads", "2")
    assert said.code == 2
    line = "--weights, --limit, --seed: of no use in a competition; weights are said in every --model"
    assert line in " ".join(said.err.replace("│", " ").split())
    said = segstress("reproduce", "spatial", *AS, *options)
    assert said.code == 2
    assert "--weights are of the protocol's network; with --model say them there" in " ".join(
        said.err.replace("│", " ").split()
    )


def test_it_takes_the_numerics_of_every_run(segstress, tmp_path: Path) -> None:
    said = segstress(
        *("reproduce", "spatial", *AS, "--model", f"{net('tiny')}?classes=7", "--data", DATA, "--limit", "1"),
        *("--workers", "1", "--device", "cpu", "--threads", "2", "--batch-size", "3", "--keep-images"),
    )
    assert said.code == 0, said.err
    plan = Run(tmp_path / "runs/reproduce-spatial-segformer-b0").plan
    assert (plan.numerics.threads, plan.numerics.batch_size, plan.keep_images) == (2, 3, True)
    assert plan.seed == 42, "the protocol's own"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("spatial", *AS, "--target", "3"), "--target: spatial-localized-cityscapes-512x1024 has no such setting"),
        (
            ("trying-harder", "--as", NORMAL, "--target", "3", "--class-weights", "shapes:train"),
            "--class-weights, --target: trying-harder-voc-512 has no such setting, so it would be ignored",
        ),
        (("proximal-splitting", "--as", "voc-fcn-hr48-targeted", "--class-weights", "x"), "--class-weights: alma-prox"),
        (("spatial", *AS, "--model", "compact:cnn"), "--model: expected one, found 2: published figures are of one"),
        (("spatial", *AS, "--data", DATA), "--data: expected one, found 2"),
        (("spatial", *AS, "--name", "FCN=cnn"), "--name: it is for models of a competition (mad)"),
    ],
)
def test_what_a_protocol_would_ignore_is_refused(segstress, words: tuple[str, ...], line: str) -> None:
    said = segstress("reproduce", *words, "--data", DATA, "--model", "compact:cnn-normal")
    assert line in said_in_one_line(said)


def test_what_lies_where_the_protocol_looks_for_it_names_the_option(segstress) -> None:
    said = said_in_one_line(segstress("run", "alma-prox-voc-512", "--model", "compact:cnn-normal"))
    assert said.endswith("that is where the protocol looks for it: give yours by --data")
    given = ("--data", "shapes:test?count=1&size=32")
    said = said_in_one_line(segstress("reproduce", "proximal-splitting", "--as", "voc-fcn-hr48", *given))
    assert said.endswith("that is where the protocol looks for it: give yours by --weights")
    run = said_in_one_line(segstress("run", "alma-prox-voc-512", *given))
    assert run.endswith("that is where the protocol looks for it: give yours by --model")


def test_without_as_it_says_beside_which_model_ours_stands(segstress) -> None:
    said = segstress("reproduce", "trying-harder", "--data", DATA, "--weights", "nowhere.pth")
    assert f"--as is missing: yours stands beside {NORMAL}, the first of the paper's" in said.out
    named = segstress("reproduce", "trying-harder", "--as", NORMAL, "--data", DATA, "--weights", "nowhere.pth")
    assert "--as" not in named.out


def test_one_file_of_weights_is_not_taken_for_every_training(segstress) -> None:
    said = said_in_one_line(segstress("reproduce", "trying-harder", "--as", NORMAL, "--data", DATA))
    assert "--weights is missing: the paper has pspnet trained in several ways (voc-pspnet-normal, voc-pspnet-" in said
    assert said.endswith("give the weights of voc-pspnet-normal")


@pytest.mark.parametrize(
    "words", [("reproduce", "trying-harder", "--as", NORMAL, "--weights", "w.pth"), ("run", "trying-harder-voc-512")]
)
def test_code_that_is_the_users_to_write_is_said_to_be(segstress, words: tuple[str, ...]) -> None:
    said = said_in_one_line(segstress(*words, "--data", DATA))
    assert "file 'DDC-AT/stress.py' does not exist; expected a Python file; it is yours to write" in said
    assert said.endswith("docs/models.md shows; or give a network of yours by --model")


@pytest.mark.usefixtures("none_counted")
@pytest.mark.parametrize(
    ("command", "name", "line"),
    [
        ("run", "sea-voc-473", "as weights: give yours by --class-weights"),
        ("plan", "sea-voc-473", "as weights: give yours by --class-weights"),
        ("run", "alma-prox-cityscapes-1024x2048-targeted", "as target: give yours by --target"),
    ],
)
def test_a_protocol_by_its_name_names_the_option_too(segstress, command: str, name: str, line: str) -> None:
    given = ("--data", DATA, "--model", "compact:cnn-normal", "--limit", "1")
    said = said_in_one_line(segstress(command, name, *given))
    assert said.endswith(line)
    assert "data/" in said


def test_run_takes_a_target(segstress, tmp_path: Path) -> None:
    plan = {"models": "compact:cnn-normal", "data": DATA, "perturbations": "pgd?steps=1", "eps": "8/255"}
    (tmp_path / "mine.yaml").write_text(json.dumps(plan))
    said = segstress("run", "mine.yaml", "--target", "3", "--out", "done", "--workers", "1")
    assert said.code == 0, said.err
    (attack,) = [change for change in Run(tmp_path / "done").perturbations.values() if change.threat]
    assert attack.threat.target.label == "class 3"
