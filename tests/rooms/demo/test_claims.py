"""A claim's verdict follows its figures, whichever way they come out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from tests.rooms.demo.planted import IMAGES, UNEVEN, judge, made
from tests.rooms.reports import sample_study

from segstress.core import BadInput
from segstress.demo.claims import aggregate, claims, sizes
from segstress.demo.claims.radii import GROUPS
from segstress.demo.claims.ranking import CONTESTS, holm, on_every_seed
from segstress.demo.claims.runs import (
    BATTERY,
    CLEAN,
    KINDS,
    MATCHED,
    NO_GRAIN,
    PLAIN,
    SEEDS,
    TRAINING_ATTACK,
    TWINS,
    matched,
)
from segstress.demo.claims.seeds import apart, lead
from segstress.reports.findings.page import Answer, Check
from segstress.reports.study.assessment import assess
from segstress.results.minimal import MinimalResult


@cache
def model(name: str, scale: float, seed: int = 7, images: int = 24):
    """An assessed model; a smaller scale is a sturdier one. The attack that fails on an image is left out."""
    study = sample_study.study(name, images=images, scale=scale, seed=seed)
    fine = tuple(outcome for outcome in study.outcomes if outcome.label != sample_study.FAILING)
    return assess(replace(study, outcomes=fine))


def battery(**scales: float) -> dict:
    """Every model that claims compare under the battery; by kind, and sturdier where the scale is small."""
    usual = dict.fromkeys(KINDS, 0.5) | {kind.replace("_", "-"): scale for kind, scale in scales.items()}
    found = {name: model(name, scale) for kind, scale in usual.items() for name in matched(kind)}
    return found | {name: model(name, 1.4) for name in PLAIN}


def harmed(assessment):
    """The same with the clean predictions of an attacked one."""
    counts = assessment.study.outcomes[0].counts
    return assess(replace(assessment.study, clean={zone: counts["miou", zone] for zone in assessment.study.clean}))


def test_claim_1_is_seen_only_where_half_falls_and_whole_stands(monkeypatch):
    monkeypatch.setattr("segstress.demo.claims.half.share", lambda name: 0.5)

    def checks(half: float, whole: float, twin: float = 0.2, clean=lambda name, found: found) -> list[bool]:
        attacked = battery(pgd_at_50=half, segpgd_at_50=half, pgd_at_100=whole, segpgd_at_100=whole)
        found = {
            BATTERY.name: attacked,
            TRAINING_ATTACK.name: {name: model(name, 0.03) for name in MATCHED},
            NO_GRAIN.name: {name: model(name, twin) for name in TWINS},
            CLEAN.name: {name: clean(name, assessment) for name, assessment in attacked.items()},
        }
        return [check.holds for check in judge("01-half-is-not-enough", assessments=found).checks]

    as_good, lost, *_, kept, paid, grain = checks(half=3.0, whole=0.03)
    assert (as_good, lost, kept, paid, grain) == (True, True, True, False, True)  # clean all are the same
    assert checks(half=3.0, whole=0.03)[4]
    assert not checks(half=0.03, whole=0.03)[1]
    assert not checks(half=0.03, whole=0.03)[4]
    assert not checks(half=3.0, whole=3.0)[-3]
    assert not checks(half=0.2, whole=0.03, twin=3.0)[-1]
    dearer = checks(3.0, 0.03, clean=lambda name, found: harmed(model(name, 1.4)) if "at-" in name else found)
    assert (dearer[0], dearer[-2]) == (False, True)


def relabelled(assessment, *numbers: int):
    """The same with these of its outcomes, under the labels of the first so many."""
    outcomes = assessment.study.outcomes
    labels = [outcome.label for outcome in outcomes]
    taken = [replace(outcomes[number], label=label) for number, label in zip(numbers, labels, strict=False)]
    return assess(replace(assessment.study, outcomes=tuple(taken)))


def test_claim_2_wants_more_than_the_strongest_attack_with_all_the_passes(monkeypatch):
    """Attacks: pgd, segpgd (the strongest), fgsm (the weakest)."""
    monkeypatch.setattr(aggregate, "SINGLE", ("pgd", "segpgd", "fgsm"))
    monkeypatch.setattr(aggregate, "PUBLISHED", ("pgd", "fgsm"))
    robust = {name: model(name, 0.6, images=96) for name in aggregate.ROBUST}
    normal = {name: model(name, 0.6, images=96) for name in PLAIN}
    weak = {name: relabelled(found, 2, 2) for name, found in robust.items()}
    strong = {name: model(name, 3.0, images=96) for name in robust}

    def checks(second: dict, single: dict) -> list[bool]:
        found = {BATTERY.name: robust, aggregate.RESTARTS.name: second, aggregate.EXHAUSTIVE.name: single}
        return [check.holds for check in judge("02-aggregate", assessments=found).checks]

    assert checks(weak, normal | robust) == [True, True, *[False] * 4]  # all fall to segpgd, or else to pgd
    swapped = {name: relabelled(found, 1, 0, 2) for name, found in robust.items()}
    assert checks(strong, normal | swapped) == [False, False, True, True, False, False]  # of pgd and fgsm pgd for all
    one = swapped | {aggregate.ROBUST[0]: robust[aggregate.ROBUST[0]]}
    assert checks(weak, normal | one)[2:] == [False] * 4
    turned = {name: relabelled(found, 2, 1, 0) for name, found in robust.items()}
    assert checks(weak, normal | turned)[4:] == [True, True]


def test_claim_3_follows_the_objects():
    """All of the large objects stand, and nothing of the small ones; then the other way round."""
    for large in (True, False):
        models = {}
        for name, found in battery().items():
            objects = found.study.objects
            stand = (objects.area > np.median(objects.area)) == large
            kept = {label: np.where(stand, objects.clean, 0) for label in objects.kept}
            models[name] = replace(found, study=replace(found.study, objects=replace(objects, kept=kept)))
        answer = judge("03-small-objects", assessments={BATTERY.name: models})
        assert [check.holds for check in answer.checks[::2]] == [large] * 3


@pytest.mark.parametrize(("lost", "more"), [(slice(1, None), 1), (slice(0, 1), -1), (slice(0), 0)])
def test_a_figure_that_pools_nothing_sees_small_objects(lost, more):
    """One image has a large object, eleven have a small one."""
    sides = np.array([[900, 1000], *[[90, 10]] * 11])
    clean = np.repeat(sides[..., None], 3, axis=-1)
    worst = clean.copy()
    worst[lost, 1, :2] = 0
    worst[lost, 0, 1] += sides[lost, 1]
    planted = SimpleNamespace(
        counts=lambda figure: clean[None], worst=dict.fromkeys(("cmiou", "nmiou"), SimpleNamespace(counts=worst))
    )
    assert np.sign(sizes._hidden(planted)(np.ones((1, 12)))[0]) == more


def find(name: str, attack: str, image: int, size: float) -> MinimalResult:
    """A success; what is not told is of no account here, and as large as the delta."""
    told = {"model": name, "data": "shapes", "attack": attack, "norm": "linf", "threshold": "99%", "success": True}
    told |= {"image": f"{image:02d}", "longest": 1.0}
    return MinimalResult(**{part: told.get(part, size) for part in MinimalResult.__dataclass_fields__})


def found_sizes(half: float, alma: float = 0.5) -> list[MinimalResult]:
    """Normal networks break at 1/255, whole ones at 8/255, half ones in between."""
    generator = np.random.default_rng(0)
    radii = dict(zip(GROUPS, (1.0, half, 8.0), strict=True))
    return [
        find(name, attack, image, radii[kind] / 255 * factor * generator.uniform(0.95, 1.05))
        for kind, names in GROUPS.items()
        for name in names
        for attack, factor in (("alma-prox", alma), ("fmn", 1.0), ("pdpgd", 2.0))
        for image in range(8)
    ]


@pytest.mark.parametrize(("half", "seen"), [(1.3, [True, True]), (6.0, [False, False]), (2.2, [False, True])])
def test_claim_4_states_a_factor(half, seen):
    assert [check.holds for check in judge("04-minimum-perturbations", minimal=found_sizes(half)).checks] == seen


def spread(half: tuple[float, float], whole: tuple[float, float]) -> list[MinimalResult]:
    """Sizes by the factor over the training before, of which one holds on every other image."""
    factors = dict(zip(GROUPS, ((1.0, 1.0), half, whole), strict=True))
    sizes = np.cumprod(list(factors.values()), axis=0) / 255
    return [
        find(name, attack, image, size[image % 2])
        for names, size in zip(GROUPS.values(), sizes, strict=True)
        for name in names
        for attack in ("alma-prox", "fmn")
        for image in range(8)
    ]


@pytest.mark.parametrize(
    ("half", "whole", "seen"),
    [
        ((1.8, 1.9), (2.1, 2.2), [True, True]),
        ((1.0, 3.8), (2.1, 2.2), [False, True]),  # 1.95 times, by chance no more than twice
        ((1.8, 1.9), (1.0, 4.4), [True, False]),  # 2.1 times, by chance no less
    ],
)
def test_claim_4_wants_factors_that_are_sure(half, whole, seen):
    answer = judge("04-minimum-perturbations", minimal=spread(half, whole))
    assert [check.holds for check in answer.checks] == seen


@pytest.mark.parametrize(("alma", "seen"), [(0.5, True), (1.5, False), (1.0, False)])
def test_claim_8_wants_alma_below_every_rival(alma, seen):
    answer = judge("08-smallest-of-all", minimal=found_sizes(1.3, alma))
    assert [check.holds for check in answer.checks] == [seen] * 3


@pytest.mark.parametrize("objects", [True, False])
def test_claim_7_follows_what_is_lost(objects):
    """An attack that takes all objects and leaves the background, and one the other way round."""
    models = {}
    for name, assessment in battery().items():
        counts = assessment.counts("accuracy")[0].copy()
        lost = slice(1, None) if objects else slice(0, 1)
        counts[:, lost, 0] = counts[:, lost, 0] // 3
        worst = replace(assessment.worst["accuracy"], counts=counts)
        models[name] = replace(assessment, worst={**assessment.worst, "accuracy": worst})
    answer = judge("07-foreground", assessments={BATTERY.name: models})
    assert [check.holds for check in answer.checks] == [objects] * 3


@pytest.mark.parametrize(("scale", "seen"), [(0.1, True), (0.5, False), (1.5, False)])
def test_claim_9_wants_more_than_both_rivals(scale, seen):
    answer = judge("09-annealed-training", assessments={BATTERY.name: battery(annealed_at=scale)})
    assert [check.holds for check in answer.checks] == [True, *[seen] * 4]


def test_an_order_of_trainings_must_hold_on_every_seed():
    strong, weak = (model("a", scale).worst["accuracy"].counts for scale in (0.03, 1.5))
    ahead, behind = apart(strong, weak, "accuracy"), apart(weak, strong, "accuracy")
    assert lead([ahead] * 3, len(strong)).sure
    mixed = lead([ahead, ahead, behind], len(strong))
    assert mixed.mean.low > 0
    assert not mixed.sure


def spot(name: str, what: str, lost):
    """100 pixels of one class in each of 12 images, of which that share is lost, of all or image by image."""
    clean = np.tile([[95, 95, 100]], (IMAGES, 1, 1))
    left = clean.copy()
    left[:, 0, :2] -= np.round(100 * np.broadcast_to(lost, IMAGES)).astype(int)[:, None]
    zones = {"clean": {"all": clean}, "perturbed": {"all": left}}
    return SimpleNamespace(model=name, what=what, steps=50 * (what == "pgd"), goal="any", **zones)


def damage(*corrupted) -> Answer:
    """What claim 5 says by the shares that noise takes from the CNN of each seed; all else is the same for all."""
    local = []
    for seed, noise in zip(SEEDS, corrupted, strict=True):
        for name, lost, attacked in (("cnn-normal", noise, 0.2), ("transformer-normal", 0.2, 0.4)):
            local += [spot(name + seed, "noise", lost), spot(name + seed, "pgd", attacked)]
    return judge("05-localized-damage", local=local)


@pytest.mark.parametrize(
    ("third", "seen"), [(0.3, True), (0.1, False), (0.3 + 0.03 * UNEVEN[:, 0], True), (0.3 + 0.3 * UNEVEN[:, 0], False)]
)
def test_claim_5_must_surely_hold_on_every_seed(third, seen):
    assert damage(0.3, 0.3, third).checks[0].holds == seen


def test_claim_5_says_who_loses_more():
    answer = damage(0.3, 0.25, 0.6)
    attacked = "-20.0 (-20.0 to -20.0)"
    assert answer.checks[0].measured == (
        "so on 3 of 3; points that cnn-normal loses more than transformer-normal, corrupted and attacked:"
        f" seed 3 10.0 (10.0 to 10.0) and {attacked}; seed 4 5.0 (5.0 to 5.0) and {attacked};"
        f" seed 5 40.0 (40.0 to 40.0) and {attacked}"
    )
    told = [[cell.value for cell in row[2:]] for row in answer.tables[0].rows]
    wanted = [[0.3, 0.2, 0.1], [0.25, 0.2, 0.05], [0.6, 0.2, 0.4], *[[0.2, 0.4, -0.2]] * 3]
    np.testing.assert_allclose(told, wanted)


def contests(*wins: float) -> tuple[dict, dict]:
    """For each seed how often the worse on clean images beats the better in the draws of its competition."""
    assessments, rankings = {}, {}
    for contest, number, won in zip(CONTESTS, (3, 4, 5), wins, strict=True):
        names = [f"better-seed-{number}", f"worse-seed-{number}"]
        assessments |= {names[0]: model(names[0], 0.5), names[1]: harmed(model(names[1], 0.5))}
        places = {name: {"strength": 0.0, "interval": [-1.0, 1.0], "rank": 1, "band": [1, 2]} for name in names}
        beats = {"aggressiveness": [[0.5, 1 - won], [won, 0.5]]}
        rankings[contest.name] = {"models": names, "rankings": {"aggressiveness": places}, "beats": beats}
    return {CLEAN.name: assessments}, rankings


@pytest.mark.parametrize(
    ("wins", "seen"), [((0, 0, 0), False), ((1, 1, 1), True), ((1, 0.9, 1), False), ((1, 1, 0), False)]
)
def test_claim_6_wants_a_sure_reversal_on_every_seed(wins, seen):
    assessments, ranking = contests(*wins)
    answer = judge("06-competition", assessments=assessments, ranking=ranking)
    assert answer.checks[0].holds == seen
    assert len(answer.tables[0].rows) == 6


@pytest.mark.parametrize(("uneven", "seen"), [(0.05, True), (0.4, False)])
def test_claim_6_wants_a_clean_order_that_is_sure(uneven, seen):
    assessments, ranking = contests(1, 1, 1)
    clean, worse = made(0.6), made(0.55 + uneven * UNEVEN)
    for models in assessments.values():
        models |= {name: worse if name.startswith("worse") else clean for name in models}
    assert judge("06-competition", assessments=assessments, ranking=ranking).checks[0].holds == seen


def test_a_seed_that_orders_a_pair_otherwise_on_clean_images_is_no_witness():
    assert on_every_seed([{("a", "b"): 0.001}, {("a", "b"): 0.02}]) == {("a", "b"): 0.02}
    assert on_every_seed([{("a", "b"): 0.001}, {("b", "a"): 0.001}]) == {("a", "b"): 1.0}


@pytest.mark.parametrize(("robust", "seen"), [(0.03, True), (0.5, False), (1.5, False)])
def test_claim_10_compares_two_starts(robust, seen):
    attacked = battery(pir_at=robust, clean_init_at=0.5)
    clean = {name: harmed(found) if "clean-init" in name else found for name, found in attacked.items()}
    answer = judge("10-robust-start", assessments={BATTERY.name: attacked, CLEAN.name: clean})
    assert [check.holds for check in answer.checks] == [seen, seen, True]
    same = judge("10-robust-start", assessments={BATTERY.name: attacked, CLEAN.name: attacked})
    assert not same.checks[-1].holds


def test_holm_asks_more_of_each_pair_the_more_there_are():
    def sure(*doubts: float) -> int:
        return len(holm({(str(number), ""): doubt for number, doubt in enumerate(doubts)}))

    assert sure(0.04) == 1
    assert sure(0.04, 0.5) == 0
    assert sure(0.03, 0.02) == 2
    assert sure(0.02, 0.03, 0.04) == 0
    assert sure(*[0.002] * 28) == 0
    assert sure(0.001, *[0.5] * 27) == 1


def test_a_verdict_counts_checks():
    yes, no = Check("a", "b", True), Check("a", "b", False)
    assert [Answer(checks, (), ()).verdict for checks in ((yes, yes), (yes, no), (no,))] == [
        "seen",
        "seen in part: 1 of 2 checks hold",
        "not seen",
    ]


def test_an_unknown_claim_is_named():
    with pytest.raises(BadInput, match="did you mean '06-competition'"):
        claims.build("06-competitions")
