"""The table and curves of minimal attacks, against figures worked out by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from segstress.reports.kit import Drawing, PageFiles
from segstress.reports.minimal.figures import DRAWINGS
from segstress.reports.minimal.gallery import scenes
from segstress.reports.minimal.page import headlines, write_minimal
from segstress.reports.minimal.tables import BEST, by_setting, costs, groups, median_bounds, smallest, table
from segstress.results.minimal import MinimalResult
from segstress.results.study import Frame


def find(attack, image, size, *, success=True, forwards=10):
    return MinimalResult(
        model="net",
        data="set",
        attack=attack,
        norm="linf",
        threshold="99%",
        image=image,
        success=success,
        size=size / 255,
        raw_size=2 * size / 255,
        linf=size / 255,
        l2=size,
        l1=10 * size,
        longest=1.0,
        won=0.99 if success else 0.5,
        success_rounded=False,
        depth="8-bit",
        forwards=forwards,
        backwards=5,
        seconds=0.5,
    )


FINDS = [
    *(find("a", "1", 1), find("a", "2", 3), find("a", "3", 9, success=False)),
    *(find("b", "1", 2), find("b", "2", 2), find("b", "3", 5)),
]


def row(attack):
    found = table(FINDS)
    keys = [column.key for column in found.columns]
    return next(dict(zip(keys, cells, strict=True)) for cells in found.rows if cells[4] == attack)


def test_a_failure_counts_as_the_longest_delta():
    seen = row("a")
    assert (seen["images"], seen["unsuccessful"]) == (3, 1 / 3)
    assert (round(seen["median"], 6), round(seen["mean"], 6)) == (3, round((1 + 3 + 255) / 3, 6))
    assert (round(seen["median_successes"], 6), round(seen["mean_successes"], 6)) == (2, 2)
    assert round(seen["median_raw"], 6) == 6


def test_the_best_of_all_takes_the_smallest_success_of_each_image_at_the_cost_of_all():
    seen = row(BEST)
    assert [round(255 * each.size) for each in groups(FINDS)["net", "set", "linf", "99%", BEST]] == [1, 2, 5]
    assert (seen["unsuccessful"], seen["forwards"], seen["backwards"]) == (0, 20, 10)


def test_the_smallest_of_each_image_keeps_the_name_of_its_attack():
    assert [(find.image, find.attack) for find in smallest(FINDS)] == [("1", "a"), ("2", "b"), ("3", "b")]


def test_costs_are_summed_up_by_attack():
    dear = replace(FINDS[0], attack="c", forwards=30, backwards=7)
    rows = {row[0]: row[1:] for row in costs([*FINDS, dear, replace(dear, forwards=10)]).rows}
    assert rows == {"a": (10, 5, 0.5, 10, 5), "b": (10, 5, 0.5, 10, 5), "c": (20, 7, 0.5, 30, 7)}


def curves(finds):
    """Every figure of the page, none of which may fail."""
    files = PageFiles(Path("nowhere"))
    made = list(files.make(Drawing, DRAWINGS, finds))
    assert files.failures == []
    return made


def lines(drawing, panel=0):
    return {line.get_label(): line for line in drawing.figure.axes[panel].lines}


def test_a_curve_rises_by_one_image_at_every_success():
    (broken,) = curves(FINDS)
    drawn = lines(broken)
    assert [round(float(value), 6) for value in drawn["a"].get_xdata()] == [0, 1, 3, 1.3 * 5]  # level to the edge
    assert [round(float(value), 3) for value in drawn["a"].get_ydata()] == [0, 33.333, 66.667, 66.667]
    assert set(drawn) == {"a", "b", BEST}


@pytest.mark.parametrize(("images", "taken"), [(5, None), (6, (0, 5)), (10, (1, 8)), (24, (6, 17))])
def test_the_median_has_bounds_that_need_no_distribution(images, taken):
    values = [float(value) for value in np.random.default_rng(images).permutation(images)]
    low, high = median_bounds(values)
    assert (np.isnan(low) and np.isnan(high)) if taken is None else (low, high) == taken


def test_the_median_is_held_as_often_as_promised():
    draw = np.random.default_rng(0).exponential(size=(2000, 16))
    held = [low <= np.log(2) <= high for low, high in map(median_bounds, draw.tolist())]
    assert np.mean(held) >= 0.95


def test_pictures_of_the_smallest_change_of_each_image(tmp_path):
    image, labels = np.full((3, 4, 6), 0.5, dtype=np.float32), np.zeros((4, 6), dtype=np.int64)
    frame = Frame("1", "a", image, image + 0.01, labels, labels, 1 - labels)
    frames = {("net", "set", attack, "99%", "1"): replace(frame, outcome=attack) for attack in ("a", "b")}
    (scene,) = scenes(FINDS, frames, {"set": [(0, 0, 0), (255, 0, 0)]})
    assert (scene.result.attack, scene.frame.outcome) == ("a", "a")  # smaller than b's
    text = write_minimal(FINDS, tmp_path, "run", [], scenes=[scene]).read_text()
    assert "net: linf 1/255 makes 99% wrong, by a" in text
    assert len(list((tmp_path / "gallery").glob("*.png"))) == 6


def test_the_axis_is_linear_up_to_two_and_then_logarithmic():
    axis = curves([*FINDS, find("b", "4", 128)])[0].figure.axes[0]
    spots = axis.transData.transform([(size, 0) for size in (0, 1, 2, 4, 8, 16, 32)])[:, 0]
    first, second, *rest = np.diff(spots)
    assert first == pytest.approx(second)
    assert rest == pytest.approx([rest[0]] * len(rest), rel=0.02)


def test_cdfs_of_two_thresholds_stand_side_by_side():
    lower = [replace(each, threshold="90%", size=each.size / 2) for each in FINDS]
    *_, broken = curves([*lower, *FINDS])
    assert [setting[3] for setting in by_setting([*lower, *FINDS])] == ["99%", "90%"]
    assert [axis.get_title(loc="left") for axis in broken.figure.axes] == [
        f"net on set, {share} of pixels" for share in ("99%", "90%")
    ]
    assert [float(lines(broken, panel)["b"].get_xdata()[1]) for panel in (0, 1)] == pytest.approx([2, 1])


def test_the_page_names_its_files_and_its_remarks(tmp_path):
    page = write_minimal(FINDS, tmp_path, "run", ["BatchNorm was folded."])
    text = page.read_text()
    assert "BatchNorm was folded." in text
    assert headlines(FINDS) == [
        "net on set: 3 of 3 images broken (99% of pixels), at the median by a linf change of 2/255;"
        " 0 of them still once rounded to 8-bit."
    ]
    for file in re.findall(r'href="((?:tables|figures)/[^"]+)"', text):
        assert (tmp_path / file).is_file(), file
    listed = {path.name for path in (tmp_path / "tables").iterdir()}
    assert {"minimal.csv", "minimal-costs.csv", "minimal-best.csv", "minimal-results.csv"} <= listed


def test_a_model_that_never_falls_has_a_page_too(tmp_path):
    stubborn = [replace(each, success=False) for each in FINDS]
    assert headlines(stubborn) == ["net on set: 0 of 3 images broken (99% of pixels)."]
    assert write_minimal(stubborn, tmp_path, "run", []).is_file()
