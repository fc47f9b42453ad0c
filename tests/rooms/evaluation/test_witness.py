"""Nothing that an attack on one part says is believed."""

from dataclasses import replace

import pytest
import torch
from tests.conftest import net

from segstress.attacks.alone import Alone
from segstress.core import perturbations
from segstress.data import load as load_data
from segstress.evaluation.referee import Referee
from segstress.models import load as load_model
from segstress.runtime import Numerics

RADIUS = 8 / 255
SPEC = {
    "kind": "alone",
    "parts": "objects",
    "algorithm": {"kind": "momentum", "steps": 4},
    "threat": {"radius": RADIUS},
}


@pytest.fixture
def data():
    return load_data("shapes:test?count=2&size=24")


@pytest.fixture
def samples(data):
    return [data.read(id_) for id_ in data.ids()]


def judge(data, *, keep=frozenset(), searched=None, **given):
    change = perturbations.build(SPEC | given)
    model = load_model("compact:cnn-normal")
    return Referee(model, data, data.read, change, 0, Numerics(), keep=keep, searched=searched)


def plant(monkeypatch, lie):
    """Let the first image's strikes be changed before anyone sees them."""
    honest = Alone.strikes

    def strikes(*given, **more):
        for strike in honest(*given, **more):
            yield lie(strike) if strike.position == 0 else strike

    monkeypatch.setattr(Alone, "strikes", strikes)


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        (lambda images: (images + 3 * RADIUS).clamp(0, 1), "outside the linf ball"),
        (lambda images: images - 1, "outside [0, 1]"),
    ],
)
def test_a_part_outside_ball_or_box_makes_its_image_an_error_and_no_other(monkeypatch, data, samples, lie, words):
    """Only the last part of the first image lies; its size says that all is well."""

    def one_part(strike):
        images = strike.images.clone()
        images[-1:] = lie(images[-1:])
        return replace(strike, images=images)

    plant(monkeypatch, one_part)
    first, second = judge(data)(samples).images
    assert first["status"] == "error"
    assert words in first["message"]
    assert second["status"] == "ok"


def test_an_image_that_does_no_harm_counts_as_none(monkeypatch, data, samples):
    """A strike may hand over the clean image; then the objects stand, whatever its passes."""
    plant(monkeypatch, lambda strike: replace(strike, images=samples[0].image.expand_as(strike.images)))
    rows = [row for row in judge(data)(samples).objects if row["image"] == samples[0].id]
    assert rows
    assert all(row["correct"] == row["clean"] for row in rows)


def test_the_original_model_judges_and_not_the_one_that_was_searched(data, samples):
    """Attacks on another network hardly harm this one: the rows must say so."""
    honest, led_astray = (
        sum(row["correct"] for row in judge(data, searched=searched)(samples).objects)
        for searched in (None, load_model(net("tiny")))
    )
    assert honest < led_astray


def test_of_each_kept_image_one_erased_object_is_kept_and_it_is_erased(data, samples):
    sitting = judge(data, keep=frozenset({samples[0].id}))
    shard = sitting(samples)
    (key,) = shard.kept
    number = int(key.removeprefix("erased-").partition("|")[0])
    rows = {row["object"]: row for row in shard.objects if row["image"] == samples[0].id}
    assert rows[number]["correct"] == 0 < rows[number]["clean"]
    assert torch.equal(
        sitting.predict(torch.from_numpy(shard.kept[key])[None])[0], torch.from_numpy(shard.maps[key]).long()
    )


def test_the_kept_object_does_not_depend_on_how_many_share_a_pass(data, samples):
    keep = frozenset(sample.id for sample in samples)
    one, many = (judge(data, keep=keep, together=pixels)(samples) for pixels in (1, 10**6))
    assert sorted(one.kept) == sorted(many.kept) != []


def test_drawn_pixels_are_counted_clean_and_alone(data, samples):
    shard = judge(data, parts="pixels", number=30)(samples)
    for sample in samples:
        rows = [row for row in shard.counts if (row["image"], row["zone"]) == (sample.id, "sampled")]
        right = {state: sum(row["hits"] for row in rows if row["state"] == state) for state in ("clean", "perturbed")}
        assert sum(row["actual"] for row in rows if row["state"] == "clean") == 30
        assert right["perturbed"] < right["clean"] <= 30
