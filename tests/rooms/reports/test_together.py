"""Several studies side by side: curves over eps, pairs of models, pictures of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sample_study

from segstress.reports.study.assessment import assess
from segstress.reports.study.grids import on_all_models, under_all_attacks
from segstress.reports.study.main_tables import comparison
from segstress.reports.study.radii import families, multiples, radii
from segstress.reports.study.rivals import pairs, pairs_drawing, rivals
from segstress.results.study import Frame, Study


def test_radii_of_one_model_make_a_curve_from_clean_outwards(tiny: Study) -> None:
    wide, narrow = replace(tiny, ball="linf"), replace(tiny, ball="linf", eps=2 / 255, threat="linf 2/255")
    alone = replace(wide, model="n")
    flat = replace(narrow, ball="l2")
    (family,) = families([assess(study) for study in (wide, narrow, alone, flat)])
    assert [judged.study.eps for judged in family] == [2 / 255, 8 / 255]
    table = radii(family)
    assert [row[1] for row in table.rows] == ["clean", "linf 2/255", "linf 8/255"]
    assert [row[2].value for row in table.rows] == [18 / 20, 6 / 20, 6 / 20]


def test_the_best_is_marked_of_models_that_met_the_same_question_alone(real: Study) -> None:
    sturdy = sample_study.study("sturdy", 12, scale=0.4)
    assert comparison([assess(real), assess(sturdy)]).bold
    milder = replace(sturdy, eps=2 / 255, threat="linf 2/255")
    assert not comparison([assess(real), assess(milder)]).bold, "a smaller radius is no better model"


def test_models_are_paired_on_the_images_that_both_have_answered(real: Study) -> None:
    other = sample_study.study("sturdy", 12, scale=0.4)
    seen = np.arange(12) > 0
    known = {zone: table * seen[:, None, None] for zone, table in other.clean.items()}
    other = replace(other, clean=known, clean_answered=seen)
    (group,) = rivals([assess(real), assess(other)])
    (row,) = pairs([group]).rows
    assert row[:5] == ("cnn-normal", "sturdy", "shapes:test", "linf 8/255", 11)
    assert row[5].low <= row[5].value <= row[5].high < 0
    assert row[6] == 0


def test_a_pair_without_a_common_image_has_no_line(tiny: Study) -> None:
    first, second = (
        replace(tiny, model=name, clean_answered=np.array(seen))
        for name, seen in (("m", [True, False]), ("n", [False, True]))
    )
    assert pairs(rivals([assess(first), assess(second)])).rows == ()


def tiles(study: Study, place: int) -> list[Frame]:
    return [frame for frame in study.frames if frame.image_id == study.ids[place]]


def test_the_grid_of_an_image_has_a_picture_and_a_map_for_every_attack(real: Study) -> None:
    fewer = replace(real, frames=(*tiles(real, 0)[:2], *tiles(real, 1)))
    drawing = under_all_attacks(assess(fewer))
    assert drawing is not None
    assert real.ids[1] in drawing.caption
    assert len(drawing.figure.axes) == 2 * (2 + len(real.outcomes))
    assert under_all_attacks(assess(replace(real, frames=tiles(real, 0)[:1]))) is None


def test_the_grid_of_models_shows_the_attack_that_all_have(real: Study) -> None:
    common = [frame for frame in real.frames if frame.outcome == "segpgd 8/255"]
    other = replace(real, model="sturdy", frames=tuple(common[:4]))
    drawing = on_all_models([real, other])
    assert drawing is not None
    assert drawing.title == "segpgd 8/255 at linf 8/255 on every model"
    assert len(drawing.figure.axes) == 4 * (2 + 2)
    assert on_all_models([real, replace(other, frames=())]) is None


def test_small_multiples_have_a_panel_for_every_model_on_the_same_axes(tiny: Study) -> None:
    wide = [replace(tiny, ball="linf", model=name) for name in ("m", "n", "o", "p")]
    narrow = [replace(study, eps=2 / 255, threat="linf 2/255") for study in wide]
    drawing = multiples(families([assess(study) for study in (*wide, *narrow)]))
    assert drawing is not None
    shown = [axis for axis in drawing.figure.axes if axis.axison]
    assert [axis.get_title() for axis in shown] == ["m on d", "n on d", "o on d", "p on d"]
    assert {axis.get_ylim() for axis in shown} == {(0, 1.03)}
    assert multiples(families([assess(study) for study in (wide[0], narrow[0])])) is None, (
        "one model has its own figure"
    )


def test_paired_differences_are_drawn_with_their_intervals(real: Study) -> None:
    groups = rivals([assess(real), assess(sample_study.study("sturdy", 12, scale=0.4))])
    drawing, (row,) = pairs_drawing(groups), pairs(groups).rows
    assert drawing is not None
    (axis,) = drawing.figure.axes
    assert [text.get_text() for text in axis.get_yticklabels()] == ["cnn-normal\nminus sturdy"]
    drawn = [container.lines[0].get_xdata()[0] for container in axis.containers]
    assert drawn == [row[5].value, row[7].value, row[9].value]
    assert pairs_drawing([]) is None
