"""Every mistake gets one clear line and the right exit code: 2 for the whole request, 1 where only images fail."""

from __future__ import annotations

import errno
import json
import os
import shutil

import numpy as np
import pytest
from PIL import Image
from tests.conftest import net, write_folder

from segstress.cli.main import main
from segstress.core import BadInput, files

QUICK = ("--attack", "pgd?steps=2", "--eps", "8/255", "--workers", "1", "--out", "run")
SHAPES = "shapes:test?count=2&size=16"


def refused(said, *words):
    """Exit code 2, nothing but one line, and these words in it."""
    assert said.code == 2, said
    lines = [line for line in said.err.splitlines() if line.startswith("segstress:")]
    assert len(lines) == 1, said.err
    assert "Traceback" not in said.err
    for word in words:
        assert word in lines[0], lines[0]


def answers(segstress):
    """What `report --json` says of the run."""
    return json.loads(segstress("report", "run", "--json").out)["runs"][0]


class TestData:
    def attack(self, segstress, spec):
        return segstress("attack", "--model", net("tiny"), "--data", spec, *QUICK)

    def test_missing_folder(self, segstress):
        refused(self.attack(segstress, "folder:nowhere?classes=7&ignore=255"), "nowhere")

    def test_empty_folder(self, segstress, tmp_path):
        for place in ("images", "masks"):
            (tmp_path / "photos" / place).mkdir(parents=True)
        refused(self.attack(segstress, "folder:photos?classes=7&ignore=255"), "photos")

    def test_ignore_and_classes_are_never_guessed(self, segstress, folder):
        root, _ = folder
        refused(self.attack(segstress, f"folder:{root}?classes=7"), "ignore")
        refused(self.attack(segstress, f"folder:{root}?ignore=255"), "classes")

    def only_one_fails(self, segstress, folder, *words):
        """One error row, named; the other three images are answered."""
        said = self.attack(segstress, folder[1])
        assert said.code == 1, said
        line = next(line for line in said.out.splitlines() if line.startswith("error:"))
        for word in words:
            assert word in said.out.replace("\n", " "), (line, said.out)
        pgd = answers(segstress)["perturbations"]["pgd(steps=2)"]
        assert (pgd["images"], pgd["errors"]) == (3, 1)

    def test_image_without_mask(self, segstress, folder):
        (folder[0] / "masks" / "scene-1.png").unlink()
        self.only_one_fails(segstress, folder, "scene-1")

    def test_sizes_that_differ(self, segstress, folder):
        Image.fromarray(np.zeros((5, 6), np.uint8)).save(folder[0] / "masks" / "scene-2.png")
        self.only_one_fails(segstress, folder, "scene-2")

    def test_label_outside_the_classes(self, segstress, folder):
        mask = np.full((16, 20), 3, np.uint8)
        mask[4, 4] = 42
        Image.fromarray(mask).save(folder[0] / "masks" / "scene-0.png")
        self.only_one_fails(segstress, folder, "scene-0", "42")

    def test_truncated_image(self, segstress, folder):
        path = folder[0] / "images" / "scene-3.png"
        path.write_bytes(path.read_bytes()[:200])
        self.only_one_fails(segstress, folder, "scene-3")

    def test_zero_byte_image(self, segstress, folder):
        (folder[0] / "images" / "scene-3.png").write_bytes(b"")
        self.only_one_fails(segstress, folder, "scene-3")

    def test_floats_up_to_255(self, segstress, folder):
        (folder[0] / "images" / "scene-3.png").unlink()
        np.save(folder[0] / "images" / "scene-3.npy", np.full((16, 20, 3), 200.0, np.float32))
        self.only_one_fails(segstress, folder, "scene-3", "[0, 1]")

    def test_the_same_unknown_label_nearly_everywhere(self, segstress, folder):
        for path in (folder[0] / "masks").iterdir():
            Image.fromarray(np.full((16, 20), 42, np.uint8)).save(path)
        refused(self.attack(segstress, folder[1]), "42")

    def test_mask_without_image_is_named(self, segstress, folder):
        shutil.copy(folder[0] / "masks" / "scene-0.png", folder[0] / "masks" / "lonely.png")
        said = self.attack(segstress, folder[1])
        assert said.code in (1, 2)
        assert "lonely" in said.out + said.err

    @pytest.mark.parametrize(("mode", "word"), [("RGBA", "alpha"), ("L", "grey"), ("I;16", "16")])
    def test_other_pixel_formats_are_converted_and_said_once(self, segstress, folder, mode, word):
        for number in range(2):
            path = folder[0] / "images" / f"scene-{number}.png"
            picture = Image.open(path)
            if mode == "I;16":
                picture = Image.fromarray(np.asarray(picture.convert("L")).astype(np.uint16) * 257)
            else:
                picture = picture.convert(mode)
            picture.save(path)
        if mode == "I;16":
            refused(self.attack(segstress, folder[1]), "give scale=")
        said = self.attack(segstress, f"{folder[1]}&scale=65535")
        assert said.code == 0, said
        notes = [line for line in said.out.splitlines() if line.startswith("warning:") and word in line.lower()]
        assert len(notes) == 1, said.out

    def test_all_void_mask_is_skipped(self, segstress, folder):
        Image.fromarray(np.full((16, 20), 255, np.uint8)).save(folder[0] / "masks" / "scene-0.png")
        said = self.attack(segstress, folder[1])
        assert said.code == 0, said
        pgd = answers(segstress)["perturbations"]["pgd(steps=2)"]
        assert (pgd["images"], pgd["errors"]) == (3, 0)


class TestModel:
    def attack(self, segstress, name, *more):
        return segstress("attack", "--model", net(name), "--data", SHAPES, *QUICK, *more)

    def test_wrong_class_count(self, segstress):
        refused(self.attack(segstress, "tiny?arguments={classes: 5}"), "5", "7")

    def test_logits_at_another_resolution(self, segstress):
        refused(self.attack(segstress, "coarse"), "8", "16", "upsample")

    def test_left_in_train_mode(self, segstress):
        refused(self.attack(segstress, "training"), "train mode")

    def test_active_dropout(self, segstress):
        refused(self.attack(segstress, "dropping"), "dropout")

    def test_without_gradient(self, segstress):
        refused(self.attack(segstress, "no_gradient"), "gradient")

    def test_with_a_gradient_of_zero(self, segstress):
        refused(self.attack(segstress, "flat"), "gradient", "zero")

    def test_probabilities_are_warned_of(self, segstress):
        said = self.attack(segstress, "soft")
        assert said.code == 0
        assert sum("probabilities, not logits" in line for line in said.out.splitlines()) == 1

    @pytest.mark.parametrize(("name", "word"), [("not_a_number", "NaN"), ("raising", "too bright")])
    @pytest.mark.parametrize("batch_size", [1, 4])
    def test_what_fails_on_one_image_is_that_images_row(self, segstress, folder, name, word, batch_size):
        picture = np.full((16, 20, 3), 250, np.uint8)
        Image.fromarray(picture).save(folder[0] / "images" / "scene-2.png")
        for number in (0, 1, 3):
            Image.fromarray(picture // 5).save(folder[0] / "images" / f"scene-{number}.png")
        said = segstress("attack", "--model", net(name), "--data", folder[1], *QUICK, "--batch-size", batch_size)
        assert said.code == 1, said
        assert any("scene-2" in line and word in line for line in said.out.splitlines())
        pgd = answers(segstress)["perturbations"]["pgd(steps=2)"]
        assert (pgd["images"], pgd["errors"]) == (3, 1)

    def test_missing_file_and_function(self, segstress):
        refused(segstress("attack", "--model", "factory:none.py:net", "--data", SHAPES, *QUICK), "none.py")
        refused(self.attack(segstress, "absent"), "absent")


class TestRequest:
    def attack(self, segstress, *words):
        return segstress("attack", "--model", net("tiny"), "--data", SHAPES, "--workers", "1", *words)

    def test_unknown_attack(self, segstress):
        refused(self.attack(segstress, "--attack", "segpdg", "--eps", "8/255"), "segpdg", "did you mean 'segpgd'")

    def test_unknown_setting(self, segstress):
        refused(self.attack(segstress, "--attack", "pgd?stpes=3", "--eps", "8/255"), "did you mean 'steps'")

    def test_unknown_loss(self, segstress):
        refused(self.attack(segstress, "--attack", "pgd?loss=cee", "--eps", "8/255"), "did you mean 'ce'")

    def test_unknown_kinds(self, segstress):
        refused(segstress("attack", "--model", "compcat:cnn", "--data", SHAPES, *QUICK), "did you mean 'compact'")
        refused(segstress("attack", "--model", net("tiny"), "--data", "shape", *QUICK), "did you mean 'shapes'")

    def test_unknown_battery(self, segstress):
        refused(self.attack(segstress, "--battery", "quikc", "--eps", "8/255"), "quikc", "quick")

    def test_eps_of_eight(self, segstress):
        refused(self.attack(segstress, "--attack", "pgd", "--eps", "8"), '"8/255"')

    def test_eps_is_needed(self, segstress):
        refused(self.attack(segstress, "--attack", "pgd"), "eps")

    def test_attack_or_battery(self, segstress):
        said = self.attack(segstress, "--eps", "8/255")
        assert said.code == 2
        assert "--battery" in said.err

    def test_target_that_is_no_class(self, segstress):
        refused(self.attack(segstress, *QUICK, "--target", "7"), "class 7", "0 to 6")

    def test_device_that_is_not_there(self, segstress):
        refused(self.attack(segstress, *QUICK, "--device", "tpu9"), "tpu9")

    def test_out_that_cannot_be_written(self, segstress, tmp_path):
        (tmp_path / "file").write_text("in the way")
        words = [word if word != "run" else "file/run" for word in QUICK]
        refused(self.attack(segstress, *words), "file")

    def test_out_that_holds_another_plan(self, segstress):
        assert self.attack(segstress, *QUICK).code == 0
        words = [word if word != "8/255" else "4/255" for word in QUICK]
        refused(self.attack(segstress, *words), "another plan", "--out")

    def test_disk_full_loses_nothing(self, segstress, monkeypatch):
        written = []

        def full(handle):
            written.append(handle)
            if len(written) > 12:
                raise OSError(errno.ENOSPC, "No space left on device")
            return os.fdatasync(handle)

        with monkeypatch.context() as patch:
            patch.setattr(files.os, "fsync", full)
            refused(self.attack(segstress, *QUICK), "No space left on device", "--out")
        assert self.attack(segstress, *QUICK).code == 0
        assert answers(segstress)["perturbations"]["pgd(steps=2)"]["images"] == 2

    def test_plan_files(self, segstress, tmp_path):
        refused(segstress("run", "none.yaml"), "none.yaml")
        (tmp_path / "broken.yaml").write_text("models: [")
        refused(segstress("run", "broken.yaml"), "YAML")
        (tmp_path / "odd.yaml").write_text("models: [a]\ndata: [b]\nattacks: [pgd]\n")
        refused(segstress("run", "odd.yaml"), "attacks")

    def test_folders_without_results(self, segstress, tmp_path):
        refused(segstress("report", tmp_path), "no results")
        refused(segstress("verify", tmp_path), "no results")

    def test_traceback_only_with_debug(self, segstress):
        with pytest.raises(BadInput, match="did you mean"):
            main(["attack", "--model", "compact:cnn-nomal", "--data", SHAPES, *QUICK, "--debug"])


def test_varying_sizes_in_one_folder(segstress, tmp_path):
    root = write_folder(tmp_path / "photos", [(16, 20), (24, 16), (16, 20), (12, 12)])
    said = segstress("attack", "--model", net("tiny"), "--data", f"folder:{root}?classes=7&ignore=255", *QUICK)
    assert said.code == 0, said
    assert answers(segstress)["perturbations"]["pgd(steps=2)"]["images"] == 4


class TestParts:
    """Objects and pixels attacked alone."""

    def attack(self, segstress, *words, data=SHAPES):
        return segstress("attack", "--model", net("tiny"), "--data", data, "--workers", "1", "--out", "run", *words)

    def test_no_pixels(self, segstress):
        refused(self.attack(segstress, "--pixels", "0", "--eps", "8/255"), "--pixels", "equal to 1")

    def test_no_radius(self, segstress):
        refused(self.attack(segstress, "--objects"), "eps")

    def test_unlabelled_data(self, segstress):
        for words in (("--objects",), ("--pixels", "5")):
            said = self.attack(segstress, *words, "--eps", "8/255", data="shapes:pool?count=2&size=16")
            refused(said, "no labelled pixel", "masks")
        words = ("--model", net("tiny"), "--data", "shapes:pool?count=2&size=16", "--eps", "8/255")
        refused(segstress("plan", *words, "--objects"), "no labelled pixel")

    def test_an_attack_for_nothing(self, segstress):
        refused(self.attack(segstress, "--attack", "pgd", "--alone", "pgd", "--eps", "8/255"), "--objects")

    def test_nothing_at_all(self, segstress):
        refused(self.attack(segstress, "--eps", "8/255"), "--battery", "--objects")

    def test_a_target(self, segstress):
        refused(self.attack(segstress, "--objects", "--eps", "8/255", "--target", "1"), "leave target")
