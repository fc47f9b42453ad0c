"""Figures of localized damage, worked out by hand."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from segstress.core import regions
from segstress.metrics import metrics
from segstress.metrics.intervals import Interval, difference, interval_of
from segstress.reports.kit import Drawing, PageFiles
from segstress.reports.local.all_corruptions import all_corruptions
from segstress.reports.local.attacked import attacked
from segstress.reports.local.ensemble import Step, drawing, reversed_roles, sweep
from segstress.reports.local.ensemble import headline as trade_off
from segstress.reports.local.figures import DRAWINGS, drawn
from segstress.reports.local.page import OUTLINE, leaner, outlined, strips, write_local
from segstress.reports.local.placements import placements
from segstress.reports.local.positions import positions
from segstress.reports.local.strikes import fooling_region, strike_strips
from segstress.reports.local.tables import common, masks, overview, scores
from segstress.reports.local.verdict import headline, points, verdict
from segstress.results.degradation import corruption_degradation, relative_degradation
from segstress.results.local import LocalResult, ModelFrames, known_mean, mean_rce
from segstress.results.strikes import SingleAttack, StrikeFrames
from segstress.results.study import Frame


def counts(*images):
    """Counts of one image each, from (hits, predicted, actual) of two classes."""
    return np.array(images, dtype=np.int64)


def spot(hits=(4, 0), *, goal="any", model="m", severity=3.0, region="box", place=None, inside=True, number=0, steps=0):
    """Two images; the first has 8 of 8 pixels right when clean, `hits` of its two classes inside when damaged."""
    whole = counts(((6, 6, 6), (4, 4, 4)), ((5, 8, 6), (1, 2, 4)))
    zone = counts(((4, 4, 4), (2, 2, 2)), ((0, 0, 0), (0, 0, 0)))
    damaged = counts(((hits[0], 6, 4), (hits[1], 0, 2)), ((0, 0, 0), (0, 0, 0)))
    clean = {"all": whole, "inside": zone, "outside": whole - zone} if inside else {"all": whole}
    perturbed = {zone: table.copy() for zone, table in clean.items()}
    perturbed["all"] = whole - zone + damaged
    if inside:
        perturbed["inside"] = damaged
    return LocalResult(model, "d", "fog", severity, steps, number, region, place, goal, clean, perturbed)


def drawings(spots):
    """Every figure of the page, none of which may fail."""
    files = PageFiles(Path("nowhere"))
    made = list(files.make(Drawing, DRAWINGS, spots))
    assert files.failures == []
    return made


def patches(ratio):
    return regions.build(f"patches:{ratio}")


def test_scores_and_relative_losses():
    damaged = spot((3, 0))
    assert damaged.score("accuracy", "inside", "clean") == 1
    assert damaged.score("accuracy", "inside") == pytest.approx(3 / 6)
    assert damaged.score("mean_accuracy", "inside") == pytest.approx((3 / 4 + 0) / 2)
    assert damaged.rce("mean_accuracy", "inside") == pytest.approx(1 - 3 / 8)
    assert damaged.rce("accuracy", "outside") == 0
    assert damaged.rce("accuracy", "all") == pytest.approx((16 - 13) / 16)
    assert damaged.share() == pytest.approx(6 / 20)
    assert damaged.empty("inside") == 1
    assert damaged.empty("outside") == 0
    assert damaged.spread("accuracy").value == 0
    assert math.isnan(spot((4, 2)).spread("accuracy").value), "without damage inside there is no ratio"


def test_out_over_in_weighs_each_side_by_its_area():
    damaged = spot((3, 0))
    damaged.perturbed["outside"][1, 0, 0] -= 2
    inside, outside = 3 / 6, 2 / 10  # of the right pixels, lost
    assert damaged.spread("accuracy").value == pytest.approx(outside * (14 / 20) / (inside * (6 / 20)))


def test_the_headline_names_the_worst_damage():
    def outside(model, lost):
        found = spot(model=model)
        found.perturbed["outside"][0, 0, 0] -= lost
        return found

    found = [outside("mild", 0), outside("worst", 2), outside("middling", 1)]
    lost = 100 * found[1].rce("mean_accuracy", "outside")
    assert headline(found) == (
        f"worst loses up to {lost:.1f} % of its class-mean accuracy outside of what was damaged (fog 3)."
    )
    whole = [spot(hits, model=f"m{hits[0]}", region="", inside=False) for hits in ((3, 2), (1, 0), (4, 1))]
    lost = 100 * whole[1].rce("mean_accuracy", "all")
    assert headline(whole) == f"m1 loses up to {lost:.1f} % of its class-mean accuracy on the whole image (fog 3)."


def test_whole_images_have_no_inside():
    damaged = spot(region="", inside=False)
    assert math.isnan(damaged.score("accuracy", "inside"))
    assert math.isnan(damaged.share())
    (row, *_) = scores([damaged]).rows
    assert row[-2:] == (0, 0)


def test_cd_and_retention_against_the_first_model():
    def whole(model, hits, severity):
        return spot(hits, model=model, severity=severity, region="", inside=False)

    first = [whole("a", (4, 0), 1.0), whole("a", (2, 0), 3.0)]
    second = [whole("b", (4, 2), 1.0), whole("b", (3, 0), 3.0)]
    rows = {row[0]: row for row in common([*first, *second]).rows}
    lost = {name: sum(1 - s.score("cmiou", "all") for s in own) for name, own in (("a", first), ("b", second))}
    clean = first[0].score("cmiou", "all", "clean")
    assert rows["a"][6] == Interval(1.0, 1.0, 1.0), "beside itself nothing is uncertain"
    assert rows["a"][7].value == 1
    assert rows["b"][6].value == pytest.approx(lost["b"] / lost["a"])
    assert rows["b"][7].value == pytest.approx((lost["b"] - 2 * (1 - clean)) / (lost["a"] - 2 * (1 - clean)))
    assert rows["b"][6].low < rows["b"][6].value < rows["b"][6].high
    mean = np.mean([s.score("cmiou", "all") for s in second])
    assert rows["b"][5].value == pytest.approx(mean / clean)


def test_mean_and_worst_of_several_masks():
    (row,) = masks(
        [spot(hits, place=patches(ratio)) for hits, ratio in (((4, 2), 0.5), ((2, 1), 0.5), ((4, 0), 0.25))]
    ).rows
    assert row[4:6] == (0.5, 2)
    assert row[6].value == pytest.approx((0 + 0.5) / 2)
    assert row[7].value == pytest.approx(0.5)


def test_best_single_attack_and_all_together():
    def outside(goal, right):
        found = spot(goal=goal)
        found.perturbed["outside"][0, 0, 0] = right
        return found

    goals = {"attack-1": 2, "attack-2": 1, "cumulative-1": 2, "cumulative-2": 0}
    found = [outside(goal, right) for goal, right in goals.items()]
    (row,) = attacked(found).rows
    assert row[6] == 2
    assert row[8].value == found[1].score("mean_accuracy", "outside")
    assert row[9].value == found[3].score("mean_accuracy", "outside")
    assert row[9].value < row[8].value < row[7].value
    assert row[-1].value == pytest.approx(row[9].value - row[8].value)
    expected = difference(found[3].perturbed["outside"], found[1].perturbed["outside"], metrics.get("mean_accuracy"))
    assert (row[-1].low, row[-1].high) == (expected.low, expected.high), "in pairs, of the same images"


def lossy(*images):
    """A result of images with so many right pixels (inside, outside), of which so many are lost."""
    areas = np.array([area for area, _ in images])
    lost = np.array([lost for _, lost in images])
    whole = {"inside": areas[:, 0], "outside": areas[:, 1], "all": areas.sum(1)}
    gone = {"inside": lost[:, 0], "outside": lost[:, 1], "all": lost.sum(1)}
    clean = {zone: np.stack([area, area, area], -1)[:, None] for zone, area in whole.items()}
    perturbed = {zone: table.copy() for zone, table in clean.items()}
    for zone, table in perturbed.items():
        table[:, 0, 0] -= gone[zone]
    return replace(spot(), clean=clean, perturbed=perturbed)


def test_out_over_in_has_an_interval_over_images():
    alike = lossy(*[((10, 20), (4, 2))] * 6).spread("accuracy")
    assert alike.value == pytest.approx(2 / 4), "pixels lost outside for each that is lost inside"
    assert (alike.low, alike.high) == pytest.approx((0.5, 0.5), abs=1e-6)
    images = [((10, 20), (4, 1)), ((30, 5), (4, 3)), ((8, 40), (5, 9)), ((20, 20), (2, 2))]

    def counted_anew(weights):
        kept = [[image for image, weight in zip(images, draw, strict=True) if weight] for draw in weights]
        return np.array([lossy(*some).spread("accuracy").value for some in kept])

    apart, expected = lossy(*images).spread("accuracy"), interval_of(counted_anew, len(images))
    assert (apart.value, apart.low, apart.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert apart.low < apart.value < apart.high
    apart = lossy(*[((10, 20), (4, 0))] * 3, *[((10, 20), (0, 10))] * 3).spread("accuracy")
    assert apart.value == pytest.approx(30 / 12)
    assert apart.low < 2.5 < apart.high, "images without damage inside count too"
    single = lossy(((10, 20), (4, 2)), ((10, 20), (0, 2))).spread("accuracy")
    assert single.value == pytest.approx(4 / 4)
    assert math.isnan(single.low), "all damage inside is one image's: nothing is known of others"
    wrong = lossy(((10, 20), (-4, 2)))
    wrong.clean["inside"][..., 0] = 0
    assert math.isnan(wrong.spread("accuracy").value), "nothing was right inside, so nothing can be lost"
    (row, *_) = scores([lossy(*images)]).rows
    keys = [column.key for column in scores([]).columns]
    shown = [row[keys.index(f"spread{end}")] for end in ("", "_low", "_high")]
    assert shown[1] < shown[0] < shown[2]


def test_the_page_says_once_what_every_row_says():
    full = masks([spot(place=patches(0.5), severity=severity) for severity in (1.0, 1.0, 3.0, 3.0)])
    lean = leaner(full)
    gone = {column.key for column in lean.columns if column.hidden}
    assert gone == {"data", "perturbation", "masks"}
    assert lean.note.endswith("In every row: data d, perturbation fog, masks 2.")
    assert [row[1] for row in lean.without(gone).rows] == ["1", "3"]
    assert lean.rows == full.rows, "the files keep all"


def test_a_sweep_compares_each_end_with_its_own():
    def mixture(model, inside, outside):
        attack = spot(goal="cumulative-1", number=1, model=model)
        attack.perturbed["outside"][0, 0, 0] = outside
        return [spot(inside, model=model), attack]

    found = [*mixture("second", (4, 2), 0), *mixture("half", (4, 1), 1), *mixture("first", (2, 0), 2)]
    steps = sweep(found, {0.0: "second", 0.5: "half", 1.0: "first"})
    assert [step.natural.value for step in steps] == pytest.approx([0, 1 / 6, 4 / 6])
    assert [step.adversarial.value > 0 for step in steps] == [True, True, False]
    assert (steps[2].adversarial.value, steps[2].adversarial.low, steps[2].adversarial.high) == (0, 0, 0)
    assert steps[0].adversarial.low < steps[0].adversarial.value <= steps[0].adversarial.high
    attack = [spot((4, 2), model=model, steps=5) for model in ("second", "half", "first")]
    assert sweep([*found, *attack], {0.0: "second", 0.5: "half", 1.0: "first"}) == steps, "an attack is no corruption"
    with pytest.raises(ValueError, match="needs the weights 0 and 1"):
        sweep(found, {0.5: "half"})


def step(weight, natural, adversarial):
    """A mixture whose errors are known exactly."""
    return Step(weight, *(Interval(*3 * [float(value)]) for value in (0, natural, adversarial)))


def test_the_headline_of_a_mixture_is_the_weight_at_which_the_larger_error_is_smallest():
    steps = [step(0, 0, 0.4), step(0.3, 0.05, 0.1), step(0.6, 0.2, 0.05), step(1, 0.5, 0)]
    said = trade_off(steps, "hard", "soft")
    assert "at a weight of 0.3 of hard: CE_Nat 5.0 % against soft, CE_Adv 10.0 % against hard;" in said
    assert said.endswith("alone, hard has CE_Nat 50.0 %, soft CE_Adv 40.0 %.")
    assert "cannot be compared" in trade_off([step(0, math.nan, 0), step(1, math.nan, 0)], "hard", "soft")
    assert "CE_Nat inside corrupted regions against soft, CE_Adv outside attacked regions against hard" in (
        drawing(steps, "hard", "soft").caption
    )


@pytest.mark.parametrize(
    ("natural", "adversarial", "words"),
    [
        (0.2, 0.1, ()),
        (-0.2, 0.1, ("first does better than second inside corrupted regions too", "little to trade")),
        (0.2, -0.1, ("second does better than first outside attacked regions too", "little to trade")),
        (-0.2, -0.1, ("inside corrupted regions and second does better", "in the other order")),
    ],
)
def test_reversed_roles_are_warned_of(natural, adversarial, words):
    said = " ".join(reversed_roles([step(0, 0, adversarial), step(1, natural, 0)], "first", "second"))
    assert bool(said) == bool(words)
    assert all(word in said for word in words)
    assert ("in the other order" in said) == (natural < 0 > adversarial), "else the other order is warned of as well"


def test_roles_within_the_intervals_are_not_warned_of():
    unsure = Interval(-0.01, -0.3, 0.3)
    steps = [replace(step(0, 0, 0), adversarial=unsure), replace(step(1, 0, 0), natural=unsure)]
    assert reversed_roles(steps, "first", "second") == []


def test_the_line_is_around_the_region_where_hardly_anything_changed():
    white, region = np.ones((3, 12, 12)), np.zeros((12, 12), dtype=bool)
    region[4:8, 4:8] = True
    changed = white.copy()
    changed[:, 4, 4] = 0
    empty = np.zeros((12, 12), dtype=np.int64)
    drawn = (outlined(Frame("i", "o", white, changed, empty, empty, empty, region)) == OUTLINE).all(-1)
    assert drawn[3, 4:8].all()
    assert drawn[8, 4:8].all()
    assert not drawn[4:8, 4:8].any()
    assert not (outlined(Frame("i", "o", white, changed, empty, empty, empty)) == OUTLINE).all(-1).any()


def scene(images, *, together=False):
    """One scene of two pixels: models and the brightness of the image that each of them saw."""
    labels = np.zeros((1, 2), dtype=np.int64)
    frames = {
        model: Frame("i", "o", np.zeros((3, 1, 2)), np.full((3, 1, 2), value), labels, labels, labels, None, together)
        for model, value in images.items()
    }
    return ModelFrames("scene", "pgd", frames, ((0, 0, 0),), ("thing",))


def test_what_a_model_predicted_stands_beside_the_image_that_it_saw():
    (shared,) = strips([scene({"a": 1.0, "b": 1.0})])
    captions = ["perturbed, region outlined", "truth", "a, clean", "a, perturbed", "b, clean", "b, perturbed"]
    assert [picture.caption for picture in shared.pictures] == captions
    own = list(strips([scene({"a": 0.0, "b": 1.0}, together=True)]))
    captions = ["last attack's image, region outlined", "truth", "a, clean", "a, all attacks together"]
    assert [picture.caption for picture in own[0].pictures] == captions
    assert [picture.caption[0] for picture in own[1].pictures[2:]] == ["b", "b"]
    assert [strip.pictures[0].draw().max() for strip in own] == [0, 255]
    assert len({picture.file for strip in own for picture in strip.pictures}) == 8
    assert all("no single image attains" in strip.words for strip in own)
    assert "no single image" not in shared.words, "a prediction of the image beside it"


def test_pictures_of_one_attack_stay_in_one_line(tmp_path):
    labels = np.zeros((1, 2), dtype=np.int64)
    strikes = (SingleAttack(np.zeros((3, 1, 2)), labels, labels),) * 3
    frames = StrikeFrames("scene", "m", "3 x pgd", labels, labels, None, None, strikes, ((0, 0, 0),))
    text = write_local(tmp_path, "run", [spot()], [scene({"a": 1.0})], strikes=[frames]).read_text()
    across = [int(number) for number in re.findall(r'class="strip" style="--across: (\d+)"', text)]
    assert len(across) == 2
    assert all(number % 3 == number % 2 == 0 for number in across), "three pictures of each attack, two of each model"
    assert "light grey = void" in text


def test_intervals_stand_where_counts_allow():
    found = spot((3, 0), goal="cumulative-1", number=1)
    lost = found.rce_interval("accuracy", "all")
    assert lost.value == pytest.approx(found.rce("accuracy", "all"))
    assert lost.low < lost.value < lost.high <= 1
    assert math.isnan(spot(region="", inside=False).rce_interval("accuracy", "inside").value)
    same = spot((4, 2)).rce_interval("accuracy", "outside")
    assert (same.low, same.value, same.high) == (0, 0, 0), "nothing changed in any image"
    (row,) = overview([spot((3, 0))]).rows
    assert row[-1].value == spot((3, 0)).score("mean_accuracy", "outside")
    assert row[-1].low <= row[-1].value <= row[-1].high


def test_patches_by_chance_say_so():
    assert spot(place=regions.build("patches:0.5?mode=bernoulli")).where == "0.5 of patches of 64 px by chance"


def test_a_mean_leaves_out_what_is_unknown():
    assert known_mean([1.0, math.nan, 3.0]) == 2
    assert math.isnan(known_mean([math.nan]))


class TestAttackFigures:
    """A run as the paper's: a few settings, and each of them varied by itself."""

    @staticmethod
    def struck(side=200, position="centre", eps=16, steps=50, number=3, model="m"):
        """All results of one multi-attack."""
        place = regions.build({"kind": "box", "position": position, "height": side, "width": side})
        for together in range(1, number + 1):
            for goal in (f"attack-{together}", f"cumulative-{together}"):
                yield spot(goal=goal, number=number, steps=steps, severity=eps / 255, place=place, model=model)

    @pytest.fixture
    def figures(self):
        varied = [
            *({"side": side, "eps": eps} for side in (100, 200) for eps in (16, 32)),
            *({"steps": steps} for steps in (20, 100)),
            *({"position": "top-left"}, {"number": 5}),
        ]
        found = [each for model in "ab" for settings in varied for each in self.struck(model=model, **settings)]
        return {drawing.name: drawing.figure for drawing in drawings(found)}

    @staticmethod
    def lines(figure):
        return {line.get_label(): list(line.get_xdata()) for line in figure.axes[0].lines if len(line.get_xdata()) > 2}

    def test_every_setting_that_varies_has_its_figure(self, figures):
        assert list(figures) == ["attacks", "steps", "side", "eps", "placements"]

    def test_only_what_differs_in_the_setting_alone_is_joined(self, figures):
        assert self.lines(figures["steps"]) == {"a": [20, 50, 100], "b": [20, 50, 100]}
        assert self.lines(figures["attacks"]) == {"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 5]}
        sides = figures["side"].axes[0]
        assert sides.get_legend_handles_labels()[1] == [f"{m} eps {eps}/255" for m in "ab" for eps in (16, 32)]
        assert [tick.get_text() for tick in figures["eps"].axes[0].get_xticklabels()] == ["16/255", "32/255"]

    def test_centre_and_corner_stand_beside_each_other(self, figures):
        axis = figures["placements"].axes[0]
        assert [tick.get_text() for tick in axis.get_yticklabels()] == ["a", "b"]
        assert axis.get_legend_handles_labels()[1] == ["centre", "top-left"]

    def test_a_single_setting_has_no_figure(self):
        assert [drawing.name for drawing in drawings(list(self.struck(number=1)))] == []


def test_a_figure_without_bands_names_the_table_of_its_intervals():
    many = [
        replace(spot(severity=severity, place=patches(0.5)), what=what) for what in "abcdefg" for severity in (1.0, 3.0)
    ]
    (figure,) = drawings(many)
    assert f"Intervals: '{drawn(many).title}' on this page" in figure.caption
    (figure,) = drawings(many[:4])
    assert "Intervals:" not in figure.caption


def test_two_positions_are_compared_on_the_same_images():
    def struck(position, missed):
        box = regions.build({"kind": "box", "position": position, "height": 8, "width": 8})
        result = spot(goal="cumulative-1", number=1, steps=5, place=box)
        result.perturbed["outside"][:, 0, 0] -= missed
        return result

    (row,) = placements([struck("centre", [1, 2]), struck("top-left", [1, 2])]).rows
    line, first, second, loss, same, difference = row
    assert (line, first, second) == ("m", "centre", "top-left")
    assert loss == same
    assert loss.high - loss.low > 0.01
    assert difference.value == difference.low == difference.high == 0, "the images weigh alike in both"
    (other,) = placements([struck("centre", [2, 2]), struck("top-left", [1, 2])]).rows
    assert other[-1].value == pytest.approx(other[3].value - other[4].value)
    assert other[-1].value > 0
    assert placements([struck("centre", [1, 2]), replace(struck("top-left", [1, 2]), data="another")]).rows == ()


def test_a_map_of_places_is_the_mean_over_what_was_done_there():
    def slid(left, hits, severity):
        place = regions.build({"kind": "rectangle", "top": 0, "left": left})
        found = spot(severity=severity, place=place)
        found.perturbed["outside"][0, 0, 0] = hits
        return found

    found = [slid(0, 2, 1.0), slid(0, 1, 5.0), slid(64, 2, 1.0)]
    (drawing,) = drawings(found)
    (grid,) = drawing.figure.axes[0].images[0].get_array().tolist()
    loss = [each.rce("mean_accuracy", "outside") for each in found]
    assert loss[1] > loss[0]
    assert grid == pytest.approx([(loss[0] + loss[1]) / 2, loss[2]])
    rows = positions(found).rows
    assert [row[:4] for row in rows] == [("m", "d", 0, 0), ("m", "d", 0, 64)]
    assert [row[4].value for row in rows] == pytest.approx(grid)
    (widths,) = drawing.figure.axes[1].images[0].get_array().tolist()
    assert widths == pytest.approx([(row[4].high - row[4].low) / 2 for row in rows])


def test_degradation_is_sure_where_images_differ_and_models_do_not():
    """Two models that lose alike on every image: their ratio is sure although neither loss is."""

    def lost(model, *wrong):
        whole = counts(*(((10, 10, 10),) for _ in wrong))
        left = whole.copy()
        left[:, 0, 0] -= wrong
        return LocalResult(model, "d", "fog", 1.0, 0, 0, "", None, "any", {"all": whole}, {"all": left})

    first, second, other = lost("a", 2, 6, 4), lost("b", 1, 3, 2), lost("c", 3, 2, 1)
    for measure in (corruption_degradation, relative_degradation):
        alike, apart = (measure([first], [own], "accuracy") for own in (second, other))
        assert alike.value == apart.value == pytest.approx(0.5)
        assert alike.high - alike.low < 1e-9 < apart.high - apart.low
    fewer = lost("b", 1, 3)
    alone = corruption_degradation([first], [fewer], "accuracy")
    assert alone.value == pytest.approx(0.5)
    assert math.isnan(alone.low), "other images: no common weights"
    assert math.isnan(relative_degradation([lost("a", 0, 0)], [fewer], "accuracy").value), "nothing to compare with"


def test_the_mean_of_results_is_weighed_by_the_same_images():
    """Two results that mirror each other image by image: their mean is sure where neither of them is."""

    def lost(first, second):
        whole = counts(((10, 10, 10),), ((10, 10, 10),))
        left = whole.copy()
        left[:, 0, 0] -= (first, second)
        return LocalResult("m", "d", "fog", 1.0, 0, 0, "box", None, "any", {"all": whole}, {"all": left})

    both = [lost(1, 5), lost(5, 1)]
    alone = both[0].rce_interval("accuracy", "all")
    mean = mean_rce(both, "accuracy", "all")
    assert mean.value == pytest.approx(0.3)
    assert mean.high - mean.low < 1e-9 < alone.high - alone.low
    other = replace(both[0], data="another")
    assert math.isnan(mean_rce([both[1], other], "accuracy", "all").low), "other images: no common weights"


def test_the_verdict_names_every_model_and_what_is_not_whole():
    text = verdict([spot((3, 0), model="a"), spot((1, 0), model="b")])
    assert text.index("a has ") < text.index("b has ")
    assert re.search(r" % \([^)]+ to [^)]+\) inside of it", text), "a loss without its interval says too much"
    marked = {point.name: point.good for point in points([spot()], None, 2)}
    assert marked == {"Looked at": True, "INCOMPLETE": False}


def test_two_best_models_of_a_column_are_marked_where_all_saw_the_same():
    table = overview([spot((hits, 0), model=f"m{hits}") for hits in (1, 2, 3, 4)])
    inside = [column.key for column in table.columns].index("fog 3 inside")
    assert {line for line, number in table.bold if number == inside} == {2, 3}
    other = overview([spot((1, 0)), spot((2, 0), region="other")])
    assert not other.bold, "models on other regions are not compared"
    spots = [spot((hits, 0), model=f"m{hits}", region=where) for where in ("box", "other") for hits in (1, 2, 3)]
    several = overview(spots)
    marked = [(several.rows[line][0], several.rows[line][2]) for line, number in several.bold if number == inside]
    assert sorted(marked) == [(model, where) for model in ("m2", "m3") for where in ("box", "other")]


def test_accuracy_over_all_corruptions_and_ce_against_every_model():
    first = [spot((3, 0), model="a", severity=1.0), spot((1, 0), model="a", severity=3.0)]
    second = [spot((4, 2), model="b", severity=1.0), spot((4, 2), model="b", severity=3.0)]
    for result in second:
        result.clean["all"][0, 0, 0] -= 2  # another clean accuracy than the first's
    table = all_corruptions([*first, *second])
    rows = {row[0]: dict(zip([column.key for column in table.columns], row, strict=True)) for row in table.rows}
    mean = np.mean([result.score("accuracy_image_mean", "all") for result in first])
    assert rows["a"]["accuracy_all"].value == pytest.approx(mean)
    for name, own in (("a", first), ("b", second)):
        clean = own[0].score("accuracy_image_mean", "all", "clean")
        error = rows["a"][f"ce_{name}"]
        assert error.value == pytest.approx((clean - mean) / clean)
        assert error.low < error.value < error.high
    attack = [spot((0, 0), model=model, steps=5) for model in "ab"]
    assert all_corruptions([*first, *second, *attack]).rows == table.rows, "an attack is no corruption"
    assert all_corruptions([*first, second[0]]).rows == (), "a model that saw fewer corruptions is not compared"


def test_every_single_attack_is_shown_with_what_it_fooled():
    truth, clean = np.array([[0, 0, 0, -1, 1]]), np.array([[0, 0, 1, 0, 1]])
    after = [np.array([[1, 0, 1, 0, 1]]), np.array([[1, 1, 1, 0, 1]])]
    region = np.array([[False, False, False, False, True]])
    strikes = tuple(SingleAttack(np.zeros((3, 1, 5)), together, together) for together in after)
    frames = StrikeFrames("scene", "m", "2 x pgd", truth, clean, region, None, strikes, ((0, 0, 0), (255, 255, 255)))
    (strip,) = strike_strips([frames])
    assert [picture.caption for picture in strip.pictures[::3]] == ["attack 1", "attack 2"]
    first, second = (fooling_region(frames, *pair)[0] for pair in ((clean, after[0]), (after[0], after[1])))
    assert len({tuple(colour) for colour in first}) == 5, "fooled, right, wrong before, void and inside differ"
    assert (second[1] == first[0]).all(), "the second attack fools the second pixel"
    assert (second[0] == first[2]).all(), "what the first fooled is wrong before the second"
    aimed = replace(frames, wanted=np.array([[1, 1, 1, 1, -1]]))
    told = fooling_region(aimed, clean, after[0])[0]
    assert (told[0] == first[0]).all(), "brought to its target"
    assert (told[2] == first[2]).all(), "at its target before"
    assert (told[3] == first[1]).all(), "void in the truth, and still aimed at"
    assert (told[4] == first[3]).all(), "nothing is wanted of it"
    assert "not at its target" in next(strike_strips([aimed])).words
    assert "light grey = no target" in next(strike_strips([aimed])).words


def test_a_targeted_attack_is_judged_by_what_it_brought_to_its_target():
    def struck(goal, hits, reached):
        wanted = counts(((reached, 4, 4), (0, 0, 0)), ((reached, 4, 4), (0, 0, 0)))
        damaged = spot((2, 0), goal=goal, number=2)
        damaged.perturbed["outside"][:, 0, 0] = hits
        already = counts(((1, 4, 4), (0, 0, 0)), ((0, 4, 4), (0, 0, 0)))
        return replace(damaged, wanted={"outside": wanted}, wanted_clean={"outside": already})

    found = [struck("attack-1", 0, 1), struck("attack-2", 2, 3), struck("cumulative-2", 0, 4)]
    table = attacked(found)
    (row,) = (dict(zip([column.key for column in table.columns], row, strict=True)) for row in table.rows)
    assert row["reached_single"].value == 0.75, "the one that reached most, not the one that broke most"
    assert row["reached_cumulative"].value == 1
    assert row["reached_clean"].value == 1 / 8, "so much was there before any attack"
    assert headline(found).endswith("; up to 100.0 % of the pixels there are at the target (m; clean: 12.5 %).")
    unaimed = [replace(result, wanted={}, wanted_clean={}) for result in found]
    assert not any(column.key.startswith("reached") for column in attacked(unaimed).columns)
    assert "target" not in headline(unaimed)


def test_a_warning_is_no_missing_answer(tmp_path):
    text = write_local(tmp_path, "run", [spot()], (), warnings=["The roles look reversed."]).read_text()
    assert "The roles look reversed." in text
    assert "every image answered" in text
    lacking = write_local(tmp_path, "run", [spot()], (), alarms=["INCOMPLETE: one image."]).read_text()
    assert "1 of the perturbations lack answers" in lacking


def test_results_of_other_images_have_no_paired_interval():
    one, other = (replace(spot(hits), ids=ids) for hits, ids in (((4, 0), ("a", "b")), ((2, 0), ("a", "c"))))
    assert math.isnan(corruption_degradation([one], [other], "accuracy").low)
    assert math.isnan(mean_rce([one, other], "accuracy", "inside").low)
    alike = replace(other, ids=one.ids)
    assert not math.isnan(corruption_degradation([one], [alike], "accuracy").low)


def test_the_page_has_the_best_two_in_bold_and_nothing_else(tmp_path):
    text = write_local(tmp_path, "run", [spot((hits, 0), model=f"m{hits}") for hits in (1, 2, 3, 4)], ()).read_text()
    bold = re.findall(r'<td class="number best"[^>]*data-value="([^"]*)"', text)
    assert bold == [str(spot((hits, 0)).score("mean_accuracy", "inside")) for hits in (3, 4)]
    assert not re.search(r"<td[^>]*><b>", text)
