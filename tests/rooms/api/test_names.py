"""The public names, from a fresh process where that matters."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from tests.nets import Tiny

import segstress
from segstress.core import BadInput

NAMES = (
    *("attack", "minimal", "spatial", "corrupt", "evaluate", "compete", "train"),
    *("doctor", "verify", "report", "load_model", "load_data"),
)
DATA = "shapes:test?count=2&size=24"


def python(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)


def test_names_are_functions_whatever_was_imported_before():
    done = python(
        "import segstress, sys\n"
        "assert 'torch' not in sys.modules, 'import segstress stays instant'\n"
        "assert callable(segstress.data.wrap)\n"
        "from segstress.doctor import Flag\n"
        f"assert all(callable(getattr(segstress, name)) for name in {NAMES!r} * 2)\n"
        "import segstress.evaluation\n"
        "from segstress import doctor\n"
        "assert callable(doctor) and doctor is segstress.doctor\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert set(NAMES) <= set(segstress.__all__)


def test_everything_public_says_what_it_is():
    for name in set(segstress.__all__) - {"__version__"}:
        assert getattr(segstress, name).__doc__, name


def test_smallest_changes(tmp_path):
    found = segstress.minimal("compact:cnn-normal", DATA, attack="fmn?steps=4", out=tmp_path / "run")
    assert len(found.table()) == 1
    assert len(found.images()) == 2
    assert found.report().is_file()
    assert "\n" not in repr(found)


def test_local_damage(tmp_path):
    model = Tiny(7)
    pairs = [(sample.image, sample.labels) for sample in segstress.load_data(DATA)]
    asked = {"corruption": "snow", "severity": 3, "patch": 8}
    found = segstress.spatial(model, pairs, **asked, out=tmp_path / "run")
    assert {"perturbed_inside", "perturbed_outside"} <= set(found.table()[0])
    assert found.report().is_file()
    assert "<table>" in found._repr_html_()
    assert model.training


def test_a_doctor_for_a_model_in_memory():
    model, data = segstress.load_model("compact:cnn-normal").network.train(), segstress.load_data(DATA)
    found = segstress.doctor(model, [(sample.image, sample.labels) for sample in data], quick=True)
    assert found.model == "Convolutional"
    assert model.training


def test_runs_are_reported_and_verified_by_result_or_folder(tmp_path):
    result = segstress.evaluate("compact:cnn-normal", DATA, attack="fgsm", eps="8/255", out=tmp_path / "run")
    assert segstress.report(result, tmp_path / "page").is_file()
    assert segstress.report([tmp_path / "run"]).is_file()
    assert [verdict.sound for verdict in segstress.verify(result)] == [True, True, True]


def test_a_training_on_images_in_memory(tmp_path):
    data = segstress.load_data("shapes:train?count=4&size=24")
    pairs = [(sample.image, sample.labels) for sample in data]
    asked = {"data": segstress.load_data(pairs, classes=7), "epochs": 1, "batch_size": 2}
    made = segstress.train(model="compact:cnn?classes=7", out=tmp_path / "run", **asked)
    assert segstress.load_model(f"checkpoint:{made}")(data[0].image[None]).shape == (1, 7, 24, 24)
    with pytest.raises(BadInput, match="expected a model spec"):
        segstress.train(model=Tiny(7))


def test_a_competition_in_memory(tmp_path):
    data = segstress.load_data("shapes:test?count=6&size=32")
    pool = [(sample.image, sample.labels) for sample in data]
    first = segstress.load_model("compact:cnn-normal").network.train()
    second = Tiny(7)
    asked = {"draws": 10, "scale": "none"}
    for out in ("once", "twice"):  # the second finds the models in train mode again
        found = segstress.compete({"strong": first, "weak": second}, pool, out=tmp_path / out, **asked)
        assert [row["model"] for row in found.table()] == ["strong", "weak"]
        assert first.training
        assert second.training
    assert found.report().is_file()
    assert "strong > weak" in repr(found)
    with pytest.raises(BadInput, match="stay in this process"):
        segstress.compete([first, second], pool, workers=2)


def test_a_module_behind_the_interface():
    class Coarse(Tiny):
        def forward(self, images):
            return super().forward(images)[..., ::2, ::2]

    images = torch.rand(1, 3, 8, 8)
    with pytest.raises(BadInput, match="upsample=bilinear"):
        segstress.load_model(Coarse(4))(images)
    assert segstress.load_model(Coarse(4), upsample="bilinear")(images).shape == (1, 4, 8, 8)
    pairs = (images, torch.zeros(1, 8, 8, dtype=torch.long))
    asked = {"attack": "fgsm", "eps": "8/255", "interface": {"upsample": "bilinear"}}
    assert segstress.evaluate(Coarse(4), pairs, **asked).errors == ()
