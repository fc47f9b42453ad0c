"""Models and images in memory."""

from __future__ import annotations

import gc
import shutil
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tests.nets import Tiny
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import segstress
from segstress.core import BadImage, BadInput
from segstress.data import wrap
from segstress.models.memory import content_of, lend

ASKED = {"attack": "pgd?steps=2", "eps": "8/255"}


@pytest.fixture
def model():
    return Tiny(4).train()


@pytest.fixture
def pixels():
    generator = torch.Generator().manual_seed(1)
    images = torch.randint(0, 256, (3, 3, 10, 12), generator=generator) / 255
    masks = torch.randint(0, 4, (3, 10, 12), generator=generator)
    masks[:, 0] = 255
    return images, masks


class Pairs(torch.utils.data.Dataset):
    def __init__(self, images, masks):
        self.images, self.masks = images, masks

    def __len__(self):
        return len(self.images)

    def __getitem__(self, place):
        return {"image": self.images[place], "mask": self.masks[place]}


FORMS = {
    "tensors": lambda images, masks: (images, masks),
    "pairs": lambda images, masks: list(zip(images, masks, strict=True)),
    "dataset": TensorDataset,
    "mappings": Pairs,
    "uint8 arrays": lambda images, masks: [
        ((255 * image).round().byte().permute(1, 2, 0).numpy(), mask.numpy().astype(np.uint8))
        for image, mask in zip(images, masks, strict=True)
    ],
    "generator": lambda images, masks: (pair for pair in zip(images, masks, strict=True)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_data(pixels, form):
    whole = wrap(pixels, classes=4)
    other = wrap(FORMS[form](*pixels), classes=4)
    assert len(other) == 3
    assert other.ids() == whole.ids()
    assert other.fingerprint() == whole.fingerprint()
    for own, sample in zip(whole, other, strict=True):
        assert torch.equal(own.image, sample.image)
        assert torch.equal(own.labels, sample.labels)
        assert torch.equal(own.valid, sample.valid)
    assert other[1].id == whole.ids()[1]
    assert not other[0].valid[0].any()


def test_a_run_leaves_the_model_as_it_was(model, pixels, tmp_path):
    model.first.requires_grad_(False)
    model.second.eval()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    result = segstress.evaluate(model, pixels, out=tmp_path / "run", **ASKED)
    assert (model.training, model.first.training, model.second.training) == (True, True, False)
    assert [tensor.requires_grad for tensor in model.parameters()] == [False, False, True, True]
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(tensor.grad is None for tensor in model.parameters())
    assert result.folder == tmp_path / "run"


def test_figures_are_those_of_the_model(model, pixels):
    result = segstress.evaluate(model, pixels, **ASKED)
    images, masks = pixels
    with torch.no_grad():
        right = (model.eval()(images).argmax(1) == masks)[masks != 255]
    assert result.clean["accuracy"] == pytest.approx(float(right.double().mean()))
    assert result.worst["accuracy"] < result.clean["accuracy"]
    assert [row["perturbation"] for row in result.table()] == ["clean", "pgd(steps=2)", "worst case"]
    assert result.errors == ()
    assert result.complete
    assert "\n" not in repr(result)
    assert "<table>" in result._repr_html_()
    frames = result.images(2)
    assert len(frames) == 2
    assert np.abs(frames[0].perturbed - frames[0].image).max() <= 8 / 255 + 1e-6
    assert result.report(result.folder / "elsewhere").is_file()
    assert all(verdict.sound for verdict in segstress.verify(result.folder))


def test_pandas_is_no_need(model, pixels, monkeypatch):
    result = segstress.evaluate(model, pixels, **ASKED)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(BadInput, match="pip install pandas"):
        result.to_pandas()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda rows, columns: (rows, columns)))
    rows, columns = result.to_pandas()
    assert len(rows) == 3
    assert "accuracy" in columns


def test_runs_resume_and_refuse_another_model(model, pixels, tmp_path):
    first = segstress.evaluate(model, pixels, out=tmp_path / "run", **ASKED)
    again = segstress.evaluate(model, pixels, out=tmp_path / "run", **ASKED)
    assert again.table() == first.table()
    with torch.no_grad():
        model.first.bias += 1
    with pytest.raises(BadInput, match="holds another plan"):
        segstress.evaluate(model, pixels, out=tmp_path / "run", **ASKED)


def test_a_spec_and_memory_go_together(pixels):
    data = segstress.load_data("shapes:test?count=2&size=24")
    pairs = [(sample.image, sample.labels) for sample in data]
    result = segstress.evaluate("compact:cnn-normal", pairs, **ASKED)
    same = segstress.evaluate("compact:cnn-normal", "shapes:test?count=2&size=24", **ASKED)
    assert result.clean["accuracy"] == same.clean["accuracy"]


class Doubled(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.last = nn.Conv2d(3, 4, 1, dilation=factor)

    def forward(self, images):
        return 2 * self.last(images)


def test_identity_is_weights_structure_and_code(model):
    assert content_of(model) == content_of(Tiny(4))
    other = Tiny(4)
    with torch.no_grad():
        other.first.weight[0, 0, 0, 0] += 1e-6
    assert content_of(other) != content_of(model)

    class Shifted(Tiny):
        def forward(self, images):
            return super().forward(images) + 1

    Shifted.__qualname__ = Shifted.__name__ = "Tiny"
    assert content_of(Shifted(4)) != content_of(model)
    one, two = Doubled(1), Doubled(2)
    two.load_state_dict(one.state_dict())
    assert content_of(one) != content_of(two)


def test_a_model_of_another_process_is_refused_in_one_line():
    settings = lend(Tiny(4))  # nothing else holds it
    with pytest.raises(BadInput, match="lives in the Python process") as caught:
        segstress.load_model({"kind": "memory", "content": settings.content})
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match="lives in the Python process"):
        segstress.load_data("memory:mine?content=data-0")


def test_a_model_that_has_changed_since_is_refused(model, pixels):
    result = segstress.evaluate(model, pixels, **ASKED)
    with torch.no_grad():
        model.first.bias += 1
    with pytest.raises(BadInput, match="has changed"):
        segstress.verify(result.folder)


def test_one_strange_mask_is_an_error_row(model, pixels):
    images, masks = pixels
    masks[1, 3, 3] = 9
    result = segstress.evaluate(model, (images, masks), **ASKED)
    assert len(result.errors) == 1
    assert "label id 9 is neither one of the 4 classes nor ignored" in result.errors[0]
    assert not result.complete
    assert "INCOMPLETE" in repr(result)


def test_conversions_are_said_once(model, pixels, caplog):
    result = segstress.evaluate(model, FORMS["uint8 arrays"](*pixels), **ASKED)
    assert len(result.notes) == 1
    assert "uint8 divided by 255" in result.notes[0]
    assert [record.message for record in caplog.records].count(result.notes[0]) == 1


def test_the_same_image_twice(model, pixels):
    images, masks = pixels
    result = segstress.evaluate(model, (images[[0, 0]], masks[[0, 1]]), **ASKED)
    assert result.table()[1]["images"] == 2


def random_pairs():
    class Random(Pairs):
        def __getitem__(self, place):
            return torch.rand(3, 10, 12), self.masks[place]

    return Random


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda images, masks: (images * 255, masks), "keep normalisation inside the model"),
        (lambda images, masks: (images, masks + 300), "is neither one of the 4 classes"),
        (lambda images, masks: (images, masks[:, 1:]), "different size"),
        (lambda images, masks: (images, masks / 255), "expected a mask of integers"),
        (lambda images, masks: (images[:2], masks), "as many masks as images"),
        (lambda images, masks: DataLoader(TensorDataset(images, masks)), "give its .dataset"),
        (lambda images, masks: [], "at least one image"),
        (lambda images, masks: 7, "found int"),
        (lambda images, masks: [{"picture": images[0]}], "found \\['picture'\\]"),
        (lambda images, masks: random_pairs()(images, masks), "random augmentation"),
        (lambda images, masks: ((255 * images).long(), masks), "floats in \\[0, 1\\] or a scale, found int64"),
        (lambda images, masks: (images[:, :2], masks), "takes images of 3 channels, the data has 2"),
    ],
)
def test_bad_data_gets_one_line(model, pixels, change, words):
    with pytest.raises(BadInput, match=words) as caught:
        segstress.evaluate(model, change(*pixels), **ASKED)
    assert "\n" not in str(caught.value)
    assert model.training


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"attack": None}, "say what to do"),
        ({"workers": 2}, "stays in this process"),
        ({"classes": 5}, "gives 4 classes, the data has 5"),
        ({"device": "meta"}, "lies on cpu"),
        ({"dtype": "float64"}, "float64 is asked for"),
        ({"epsilon": 3}, "epsilon"),
    ],
)
def test_bad_requests_get_one_line(model, pixels, change, words):
    with pytest.raises(BadInput, match=words) as caught:
        segstress.evaluate(model, pixels, **{**ASKED, **change})
    assert "\n" not in str(caught.value)


def test_models_of_other_precision(model, pixels):
    assert segstress.evaluate(model.double(), pixels, **ASKED).errors == ()
    with pytest.raises(BadInput, match="float32 or float64"):
        segstress.evaluate(model.half(), pixels, **ASKED)


def test_a_module_without_weights_gets_one_line(pixels):
    with pytest.raises(BadInput, match="found a module on the meta device"):
        segstress.evaluate(nn.Conv2d(3, 4, 1, device="meta"), pixels, **ASKED)


def test_items_that_cannot_be_read_are_their_own_fault(pixels):
    class Broken(Pairs):
        def __getitem__(self, place):
            if place == 1:
                raise OSError("no such file")
            return super().__getitem__(place)

    data = wrap(Broken(*pixels), classes=4)
    with pytest.raises(BadImage, match="item 1 cannot be read: OSError"):
        data.read(data.ids()[1])


def test_results_of_attack_print_one_line(model, pixels):
    images, masks = pixels
    line = repr(segstress.attack("pgd", model.eval(), images, masks, eps="8/255", steps=2))
    assert line.startswith("<Attacked: 3 images")
    assert "\n" not in line


def test_a_temporary_folder_goes_with_its_result(model, pixels, tmp_path):
    result = segstress.evaluate(model, pixels, **ASKED)
    folder = result.folder
    assert folder.is_dir()
    del result
    gc.collect()
    assert not folder.exists()
    page = segstress.evaluate(model, pixels, **ASKED).report()
    gc.collect()
    assert page.is_file()
    shutil.rmtree(page.parents[1])
    named = segstress.evaluate(model, pixels, out=tmp_path / "mine", **ASKED).folder
    gc.collect()
    assert named.is_dir()


def test_a_run_that_fails_leaves_no_temporary_folder(model, pixels, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(BadInput, match="gives 4 classes, the data has 9"):
        segstress.evaluate(model, pixels, classes=9, **ASKED)
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_load_model_leaves_the_module_as_it_was_and_shares_its_tensors(model, pixels):
    model.second.requires_grad_(False)
    model.first.eval()
    loaded = segstress.load_model(model, mean=(0.5,))
    assert (model.training, model.first.training, model.second.training) == (True, False, True)
    assert [tensor.requires_grad for tensor in model.parameters()] == [True, True, False, False]
    assert not any(tensor.requires_grad for tensor in loaded.parameters())
    assert not any(module.training for module in loaded.modules())
    pairs = zip(model.parameters(), loaded.network.parameters(), strict=True)
    assert all(mine.data_ptr() == theirs.data_ptr() for mine, theirs in pairs)
    logits = loaded(pixels[0])
    torch.testing.assert_close(logits, model.eval()(pixels[0] - 0.5))
    model(pixels[0]).sum().backward()
    assert model.first.weight.grad is not None


def test_a_module_that_cannot_be_set_apart_is_one_line(model):
    model.lock = threading.Lock()
    with pytest.raises(BadInput, match=r"Tiny cannot be set apart from yours: .*; use segstress\.evaluate"):
        segstress.load_model(model)
