"""Images made elsewhere: judged as they are where they lie in ball and box, refused by name where they do not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image
from tests.conftest import net, write_folder

from segstress.core import BadInput
from segstress.evaluation import evaluate
from segstress.evaluation.report import figures
from segstress.evaluation.score import look_through, score_plan
from segstress.evaluation.verify import verify
from segstress.runtime import RunOptions, Store

ALONE = RunOptions(workers=1)


class Made(NamedTuple):
    """Adversarial images and where they come from."""

    data: str
    images: dict[str, np.ndarray]  # (h w c) by id
    accuracy: float
    run: object  # the folder in which they were made
    photos: object


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    root = write_folder(place / "photos", [(16, 20)] * 3)
    data = f"folder:{root}?classes=7&ignore=255"
    plan = {"models": [net("tiny")], "data": [data], "perturbations": ["pgd?steps=8"], "eps": "8/255"}
    evaluate(plan, place / "run", ALONE)
    store = Store(place / "run")
    (cell,) = (cell for cell in store.cells() if cell.perturbation["kind"] == "attack")
    kept = {key.partition("|")[2]: image for key, image in store.arrays(cell, "kept").items() if "accuracy" in key}
    images = {id_: image.transpose(1, 2, 0) for id_, image in kept.items()}
    accuracy = figures([place / "run"])["runs"][0]["perturbations"]["pgd(steps=8)"]["accuracy"]
    return Made(data, images, accuracy, place / "run", root / "images")


def save(folder, images, sort):
    folder.mkdir(exist_ok=True)
    if sort == "archive":
        np.savez(folder / "all.npz", **images)
    for id_, image in images.items() if sort != "archive" else ():
        if sort == "png":
            Image.fromarray((255 * image).round().astype(np.uint8)).save(folder / f"{id_}.png")
        elif sort == "npy":
            np.save(folder / f"{id_}.npy", image)
        else:
            np.savez(folder / f"{id_}.npz", image)
    return folder


class Scored(NamedTuple):
    """What judging a folder gave."""

    notes: list[str]
    errors: tuple[str, ...]
    clean: dict[str, float]
    judged: dict[str, float]


@pytest.fixture
def score(made, tmp_path):
    def run(folder, eps="8/255"):
        plan = score_plan(folder, models=[net("tiny")], data=[made.data], eps=eps)
        notes = list(look_through(folder, plan))
        done = evaluate(plan, tmp_path / "scored", ALONE)
        (told,) = figures([done.folder])["runs"]
        (judged,) = told["perturbations"].values()
        return Scored(notes, done.errors, told["clean"], judged)

    return run


@pytest.mark.parametrize("sort", ["npy", "npz", "archive"])
def test_floats_are_judged_exactly(score, made, tmp_path, sort):
    scored = score(save(tmp_path / "mine", made.images, sort))
    assert scored.judged["accuracy"] == made.accuracy < scored.clean["accuracy"]
    assert (scored.notes, scored.errors) == ([], ())
    assert all(verdict.sound for verdict in verify(tmp_path / "scored"))


def test_command_line_judges_png_as_rounded_and_says_so(segstress, made, tmp_path):
    folder = save(tmp_path / "mine", made.images, "png")
    words = ("--images", folder, "--model", net("tiny"), "--data", made.data, "--eps", "8/255", "--workers", 1)
    said = segstress("score", *words)
    assert said.code == 0, said
    assert "0.5/255" in said.out
    (told,) = figures([tmp_path / "runs" / "score-mine"])["runs"]
    (judged,) = told["perturbations"].values()
    assert judged["accuracy"] == pytest.approx(made.accuracy, abs=0.02)
    assert (tmp_path / "runs" / "score-mine" / "report" / "index.html").exists()


def test_png_rounded_out_of_a_fractional_ball_is_brought_back(score, made, tmp_path):
    scored = score(save(tmp_path / "mine", made.images, "png"), eps="7.75/255")
    assert not scored.errors
    store = Store(tmp_path / "scored")
    sizes = [row["linf"] for cell in store.cells() for row in store.table(cell, "images").to_pylist()]
    assert max(sizes) == pytest.approx(7.75 / 255, abs=1e-6)
    assert all(verdict.sound for verdict in verify(tmp_path / "scored"))


@pytest.mark.parametrize(("sort", "eps"), [("npy", "7.75/255"), ("png", "7/255")])
def test_outside_the_ball_is_refused_by_name(score, made, tmp_path, sort, eps):
    scored = score(save(tmp_path / "mine", made.images, sort), eps=eps)
    assert [line.partition(":")[0] for line in scored.errors] == ["scene-0", "scene-1", "scene-2"]
    assert all(line.endswith(f"is 0.03137 away, outside the ball of linf {eps}") for line in scored.errors)
    assert (scored.judged["images"], scored.judged["errors"]) == (0, 3)


def test_what_is_handed_in_counts_even_if_the_clean_image_is_worse(score, made, tmp_path):
    kind = {}
    for id_, image in made.images.items():
        clean = np.asarray(Image.open(made.photos / f"{id_}.png")).astype(np.float32) / 255
        kind[id_] = np.clip(2 * clean - image, 0, 1)  # the opposite delta helps the model
    scored = score(save(tmp_path / "mine", kind, "npy"))
    assert scored.judged["accuracy"] > scored.clean["accuracy"]


def test_outside_the_box_and_missing_are_error_rows(score, made, tmp_path):
    images = dict(made.images)
    images["scene-0"] = images["scene-0"] * 255
    del images["scene-2"]
    scored = score(save(tmp_path / "mine", images, "npy"))
    box, missing = scored.errors
    assert "[0, 1]" in box
    assert "'scene-2'" in missing
    assert (scored.judged["images"], scored.judged["errors"]) == (1, 2)


def test_names_that_fit_nothing_are_refused(score, made, tmp_path):
    strange = save(tmp_path / "mine", {f"other-{id_}": image for id_, image in made.images.items()}, "npy")
    with pytest.raises(BadInput, match=r"'scene-0\.png', found 'other-scene-0'"):
        score(strange)


def test_several_images_of_one_id_are_left_to_transfer(score, made):
    with pytest.raises(BadInput, match="--attack transfer:"):
        score(made.run)


def test_a_broken_archive_is_refused(score, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "all.npz").write_bytes(b"no zip")
    with pytest.raises(BadInput, match="damaged"):
        score(tmp_path / "mine")


def test_names_beside_the_data_are_told(score, made, tmp_path):
    scored = score(save(tmp_path / "mine", made.images | {"stranger": made.images["scene-0"]}, "npy"))
    (note,) = scored.notes
    assert "'stranger'" in note
    assert scored.judged["images"] == 3
