"""Shares of objects and pixels that fall by themselves, worked out by hand."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import sample_study

from segstress.reports.study.assessment import assess
from segstress.reports.study.floor_figures import fate_maps
from segstress.reports.study.floor_tables import floor_classes, floor_sizes, floors
from segstress.reports.study.floors import clustered, object_fates, pixel_shares
from segstress.reports.study.image_tables import errors
from segstress.reports.study.report import write
from segstress.reports.study.summary import summary
from segstress.results.rows import ImageRow, ImageRows
from segstress.results.study import Floor, Outcome, PartsFrame


def outcome(label, answered=(True, True), **given):
    """Of an attack on parts; what it counts is given."""
    plain = {"about": "", "goals": ("any",), "counts": {}, "clean": {}, "answered": np.array(answered)}
    rows = tuple(ImageRow(image, "any", "ok", "", 0.03, 0.03, 1.0, 9.0, 0.5, 9, 8) for image in ("first", "second"))
    return Outcome(label=label, rows=ImageRows.of(rows), **{**plain, **given})


def with_objects(study, correct=(0, 1, 1, 0), answered=(True, True)):
    """The tiny study, its four objects (6, 4, 2 and 8 pixels) attacked alone."""
    objects = replace(study.objects, correct=study.objects.correct | {"alone": np.array(correct)})
    return replace(study, objects=objects, alone=(Floor("objects", outcome("alone", answered)),))


def with_pixels(study, **given):
    """The tiny study, four pixels of each image attacked alone: clean 4 and 3 right, then 1 and 0."""
    clean = np.array([[[2, 2, 2], [2, 2, 2]], [[1, 2, 1], [2, 2, 3]]])
    after = np.array([[[1, 2, 2], [0, 2, 2]], [[0, 2, 1], [0, 2, 3]]])
    made = outcome("drawn", clean={"sampled": clean}, counts={("any", "sampled"): after}, **given)
    return replace(study, alone=(Floor("pixels", made),))


def test_objects_lost_and_erased_in_every_state(tiny):
    """Joint: x is worst on the first image, with 1 of 6 and 1 of 4 right; y on the second, with 0 of 2 and 4 of 8."""
    fates = object_fates(assess(with_objects(tiny)))
    shares = {(fate, state): fates.share(fate, state).value for fate in ("lost", "erased") for state in fates.correct}
    assert shares == {
        ("lost", "clean"): 0,
        ("lost", "joint"): 0.75,  # exactly half right is not lost
        ("lost", "alone"): 0.75,
        ("erased", "clean"): 0,
        ("erased", "joint"): 0.25,
        ("erased", "alone"): 0.5,
    }


def test_an_image_without_an_answer_counts_in_no_state(tiny):
    fates = object_fates(assess(with_objects(tiny, correct=(0, 4, 2, 6), answered=(True, False))))
    assert fates.images == 1
    assert fates.share("lost", "alone").value == 0.5
    assert fates.share("lost", "joint").value == 1


def test_an_error_of_a_part_is_named_among_what_went_wrong(tiny):
    failed = ImageRow("second", "any", "error", "a NaN in the logits", 0, 0, 0, 0, 0, 0, 0)
    study = with_objects(tiny, answered=(True, False))
    (floor,) = study.alone
    study = replace(study, alone=(replace(floor, outcome=replace(floor.outcome, rows=ImageRows.of([failed]))),))
    assert ("second", "alone", "a NaN in the logits") in errors(assess(study)).rows


def test_a_figure_over_fewer_images_says_so(tiny):
    whole, part = (floors(assess(with_objects(tiny, answered=(True, second)))).note for second in (True, False))
    assert "have a result" not in whole
    assert "1 of 2 images have a result for objects." in part


def test_without_a_joint_attack_its_column_is_empty(tiny):
    judged = assess(replace(with_objects(tiny), outcomes=()))
    table = {line[0]: line[2:] for line in floors(judged).rows}
    clean, joint, alone = table["objects_erased"]
    assert (clean.value, alone.value) == (0, 0.5)
    assert math.isnan(joint.value)


def test_individually_robust_share_over_all_drawn_pixels(tiny):
    shares = pixel_shares(assess(with_pixels(tiny)))
    assert shares["clean"].value == 7 / 8
    assert shares["alone"].value == 1 / 8
    assert shares["joint"].value == 6 / 20  # 2 right of 10 under x, 4 of 10 under y


def test_an_image_weighs_as_many_pixels_as_it_has_not_as_were_drawn(tiny):
    """The second image is a tenth of the first: so it is in accuracy, and the two figures stand side by side."""
    study = with_pixels(tiny)
    clean = study.clean["all"].copy()
    clean[0] *= 10
    shares = pixel_shares(assess(replace(study, clean={**study.clean, "all": clean})))
    assert shares["clean"].value == pytest.approx((100 * 4 / 4 + 10 * 3 / 4) / 110)
    assert shares["alone"].value == pytest.approx((100 * 1 / 4 + 10 * 0 / 4) / 110)


def test_classes_and_sizes_share_the_objects_among_them(tiny):
    judged = assess(with_objects(tiny))
    by_class = {line[0]: line[1:] for line in floor_classes(judged).rows}
    assert [line[0] for line in by_class.values()] == [2, 2]
    assert by_class["b"][3].value == 1  # lost alone: 1 of 4 and 0 of 8 right
    sizes = floor_sizes(judged).rows
    assert [line[:3] for line in sizes] == [(2, 2, 1), (4, 4, 1), (6, 6, 1), (8, 8, 1)]


def test_images_are_drawn_as_a_whole():
    """Ten images whose pixels all share a fate tell as little as ten pixels: the interval must be wide."""
    fell = np.array([100, 0] * 5)
    share = clustered(fell, np.full(10, 100))
    assert share.value == 0.5
    assert share.high - share.low > 0.4
    assert math.isnan(clustered(np.zeros(3, int), np.zeros(3, int)).value)


def test_what_was_attacked_alone_is_no_candidate_for_the_worst_case(tiny):
    before, after = (summary([study])["runs"][0] for study in (tiny, with_objects(tiny)))
    for part in ("worst_case", "perturbations", "pixels_right"):
        assert after[part] == before[part]
    assert before["alone"] == {}
    assert after["alone"]["objects_erased"]["alone"]["value"] == 0.5
    assert json.dumps(after, allow_nan=False)


@pytest.fixture
def pictured(real):
    """The study that looks real, with its objects all erased and its pixels drawn in a grid."""
    seen = sample_study.world(12, 0, 7)
    grid = np.zeros((sample_study.HEIGHT, sample_study.WIDTH), dtype=bool)
    grid[::6, ::6] = True
    frames = tuple(
        PartsFrame(seen.ids[place], seen.photographs[place], truth, seen.cleans[place], (truth + 1) % 7, grid)
        for place, truth in enumerate(seen.truths[:3])
    )
    made = outcome("alone", answered=(True,) * 12)
    objects = replace(real.objects, correct=real.objects.correct | {"alone": np.zeros_like(real.objects.clean)})
    erased = ((0, real.frames[0]),)
    both = (Floor("objects", made, frames, erased), Floor("pixels", replace(made, label="drawn"), frames))
    return replace(real, objects=objects, alone=both)


def test_page_tables_and_figures_are_written(pictured, tmp_path):
    page = write([pictured], tmp_path, "floors").read_text()
    assert "upper bounds on robustness" in page
    assert "Each object and pixel by itself" in page
    names = {path.name for place in ("tables", "figures") for path in (tmp_path / place).iterdir()}
    for table in ("floors", "floor_classes", "floor_sizes"):
        assert {name for name in names if name.endswith((f"-{table}.csv", f"-{table}.tex"))}, table
    for drawing in ("floor-sizes", "floor-maps", "floor-erased"):
        assert {name for name in names if name.endswith(f"-{drawing}.svg")}, drawing


def test_no_map_is_drawn_where_the_picture_of_the_joint_attack_is_missing(pictured):
    """Else what a joint attack broke would be painted as falling only when attacked alone."""
    assert fate_maps(assess(pictured)).name == "floor-maps"
    assert fate_maps(assess(replace(pictured, frames=()))) is None


def test_without_parts_nothing_of_it_is_written(real, tmp_path):
    assert "by itself" not in write([real], tmp_path, "none").read_text()
    assert not [path for path in (tmp_path / "tables").iterdir() if "floor" in path.name]
