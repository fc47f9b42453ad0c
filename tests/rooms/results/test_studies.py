"""From a folder to a study: what a run tells of its way, its audit and its early stops reaches the report."""

from __future__ import annotations

import json
import re

import pytest
from tests.conftest import net
from tests.forging import edit_plan

from segstress.evaluation import evaluate
from segstress.evaluation.report import figures, report, studies
from segstress.planning.battery_files import battery as named
from segstress.planning.battery_files import label as label_of
from segstress.runtime import RunOptions

ATTACKS = ["fgsm?step=0.001&keep=best", "pgd-masked?steps=8", "pgd-rp?steps=8"]


@pytest.fixture
def run(tmp_path):
    """Carry out a battery of three attacks, with more lines in its file or its plan."""

    def carry_out(lines="", count=2, **changes):
        path = tmp_path / "three.yaml"
        path.write_text(f"about: three\n{lines}perturbations: {json.dumps(ATTACKS)}\n")
        asked = {"models": [net("tiny")], "data": [f"shapes:test?count={count}&size=16"], "battery": str(path)}
        return evaluate({**asked, "eps": "8/255", **changes}, tmp_path / "run", RunOptions(workers=1)).folder

    return carry_out


def test_traces_lead_from_clean_to_what_each_attack_reached(run):
    (found,) = figures([run(exhaustive=True)])["runs"]
    assert len(found["convergence"]) == len(ATTACKS) + 1
    for label, figure in found["perturbations"].items():
        shares = list(found["convergence"][label].values())
        assert shares[0] == pytest.approx(found["clean"]["accuracy"])
        assert shares[-1] == pytest.approx(figure["accuracy"])
    *_, battery = found["convergence"].values()
    assert list(battery.values())[-1] == pytest.approx(found["worst_case"]["accuracy"])


def test_an_audit_is_told_by_the_names_of_its_attacks(run):
    folder = run(lines="audit: 0.1\ntolerance: 0.02\n", count=10)
    (study,) = studies([folder])
    labels = {outcome.label for outcome in study.outcomes}
    assert study.choice is not None
    assert study.choice.images == 8
    assert study.choice.dropped
    assert {*study.choice.kept, *study.choice.dropped} == labels
    text = report([folder]).read_text()
    assert "Adaptive battery: all 3 attacks were tried on a sample of 8 images" in text


def test_a_figure_names_its_battery_and_version(run):
    folder = run(lines="version: 7\n")
    (found,) = figures([folder])["runs"]
    assert re.fullmatch(r"three.yaml v7 \([0-9a-f]{12}\)", found["battery"])
    assert f"right under {found['battery']} (3 attacks) at" in report([folder]).read_text()
    assert found["battery"] in (folder / "plan.yaml").read_text()


def test_a_battery_with_attacks_beside_it_is_not_named_as_the_battery_alone(run):
    (found,) = figures([run(perturbations=["fgsm"])])["runs"]
    assert re.fullmatch(r"three.yaml v1 \([0-9a-f]{12}\) and 1 more", found["battery"])


def test_a_battery_of_the_package_goes_by_name_and_version_one_of_the_user_also_by_what_it_says(tmp_path):
    path = tmp_path / "strong.yaml"
    path.write_text("base: strong\n")
    before = label_of(str(path), named(str(path)))
    path.write_text("base: strong\naudit: 10%\n")
    assert label_of("strong", named("strong")) == f"strong v{named('strong').version}"
    assert before.startswith("strong.yaml v1 (")
    assert before != label_of(str(path), named(str(path)))


def test_a_measured_gap_of_the_same_battery_and_version_is_told(run, tmp_path, monkeypatch):
    folder, measured = run(), tmp_path / "convergence.json"
    edit_plan(folder, lambda text: re.sub("battery_label: .*", "battery_label: strong v2", text))
    monkeypatch.setattr("segstress.results.gap.MEASURED", measured)
    entry = {"battery": "strong", "version": 2, "model": "a", "accuracy_gap": 0.1, "nmiou_gap": 0.4}
    others = [{**entry, "version": 1, "accuracy_gap": 5}, {**entry, "model": "b", "accuracy_gap": 0.3}]
    for text in (None, "no json", "7", json.dumps([{"battery": "strong", "version": 2}]), json.dumps(others[:1])):
        if text is not None:
            measured.write_text(text)
        assert figures([folder])["runs"][0]["caveats"] == []
    measured.write_text(json.dumps([entry, *others]))
    (said,) = figures([folder])["runs"][0]["caveats"]
    assert "figures of strong v2 by at most 0.30 points of accuracy and 0.40 of NmIoU" in said
    assert "models a, b at linf 8/255 (measured" in said


def test_a_run_of_a_battery_that_is_gone_can_be_reported(run):
    """As those of `adaptive` are, from before strong was two attacks."""
    folder = run()
    (before,) = figures([folder])["runs"]
    edit_plan(folder, lambda text: re.sub("(?m)^battery: .*(\n  .*)?", "battery: adaptive", text))
    assert figures([folder])["runs"] == [before]


def test_an_early_stop_states_its_bound(run):
    folder = run(done_at="60%", eps="80/255")
    (found,) = figures([folder])["runs"]
    (said,) = found["caveats"]
    assert "at most 60 % of its pixels right" in said
    slack, worst = found["worst_case_slack"], found["worst_case"]
    assert 0 < slack["accuracy"] <= worst["accuracy"]
    assert 0 < slack["cmiou"] <= worst["cmiou"]
    assert "--exhaustive" in report([folder]).read_text()


def test_a_plain_run_has_no_caveats_and_several_radii_share_their_ball(run):
    small, large = studies([run(eps="2/255,8/255")])
    assert small.ball == large.ball == "linf"
    assert small.choice is None
    assert small.done_at == 0.0005


def test_a_model_that_fails_on_every_image_says_so_in_one_line(segstress):
    said = segstress(
        "attack",
        "--model",
        net("failing"),
        "--data",
        "shapes:test?count=2&size=16",
        "--attack",
        "pgd?steps=1",
        "--eps",
        "8/255",
    )
    assert said.code == 2
    assert "failed on every image of" in said.err


def gallery(folder):
    """Return of the one study in the gallery: images with pictures, and the files of all their pictures."""
    page = report([folder])
    text = (page.parent / "gallery" / "catalogue.js").read_text()
    (study,) = json.loads(text.partition("=")[2].rstrip(";\n"))["studies"]
    shown = {study["images"][image][0] for image, *_ in study["frames"]}
    return shown, list((page.parent / "gallery").glob("*.png")), page.read_text()


def test_the_gallery_has_every_image_that_a_run_kept(run, monkeypatch):
    monkeypatch.setattr("segstress.results.studies.GALLERY", 2)
    folder = run(count=5, exhaustive=True, keep_images=True)
    (study,) = studies([folder])
    assert len({frame.image_id for frame in study.frames}) == 2
    shown, files, text = gallery(folder)
    assert shown == set(study.ids)
    assert len(files) == 5 * (3 + 4 * len(ATTACKS))
    assert "--keep-images" not in text.partition("so a link leads back here")[2].partition("</p>")[0]


def test_a_gallery_beyond_its_bound_says_what_it_leaves_out(run, monkeypatch):
    monkeypatch.setattr("segstress.results.studies.GALLERY", 2)
    monkeypatch.setattr("segstress.reports.study.report.MOST", 3 * len(ATTACKS))
    shown, files, text = gallery(run(count=5, exhaustive=True, keep_images=True))
    assert len(shown) == 3
    assert len(files) == 3 * (3 + 4 * len(ATTACKS))
    assert "Shown are 3 of 5 kept images" in text


def test_a_gallery_of_few_says_how_all_are_kept(run, monkeypatch):
    monkeypatch.setattr("segstress.evaluation.run.GALLERY", 2)
    shown, _, text = gallery(run(count=5, exhaustive=True))
    assert len(shown) == 2
    assert "2 of 5 images kept their pictures" in text
    assert "--keep-images" in text


def test_frames_beyond_those_held_are_those_that_were_stored(run, monkeypatch):
    folder = run(count=4, exhaustive=True, keep_images=True)
    (whole,) = studies([folder])
    monkeypatch.setattr("segstress.results.studies.GALLERY", 1)
    (few,) = studies([folder])
    assert few.more is not None
    stored = {(frame.image_id, frame.outcome): frame for frame in whole.frames}
    read = list(few.more)
    assert len(read) == 3 * len(ATTACKS)
    for frame in read:
        other = stored[frame.image_id, frame.outcome]
        assert (frame.perturbed == other.perturbed).all()
        assert (frame.prediction == other.prediction).all()
        assert (frame.clean == other.clean).all()
