"""The table and curves of minimal attacks, against figures worked out by hand."""

from __future__ import annotations

from segstress.reports.minimal import BEST, Find, groups, table
from segstress.reports.minimal_figures import curves


def find(attack, image, size, *, success=True, forwards=10):
    return Find(
        model="net",
        data="set",
        attack=attack,
        norm="linf",
        threshold="99%",
        image=image,
        success=success,
        size=size / 255,
        raw_size=2 * size / 255,
        longest=1.0,
        won=0.99 if success else 0.5,
        success_8bit=False,
        forwards=forwards,
        backwards=5,
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


def test_a_curve_falls_by_one_image_at_every_success():
    (drawing,) = curves(FINDS)
    lines = {line.get_label(): line for line in drawing.figure.axes[0].lines}
    assert [round(float(value), 6) for value in lines["a"].get_xdata()] == [0, 1, 3]
    assert [round(float(value), 3) for value in lines["a"].get_ydata()] == [100, 66.667, 33.333]
    assert set(lines) == {"a", "b", BEST}
