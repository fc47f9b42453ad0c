"""Pictures show what they claim to show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sample_study import CLASSES, PALETTE

from segstress.reports.kit import PageFiles
from segstress.reports.kit.frames import LOST, RIGHT, WRONG, amplification, draw, right
from segstress.reports.kit.pictures import paint, photograph
from segstress.reports.study.assessment import assess
from segstress.reports.study.catalogue import catalogue
from segstress.reports.study.gallery import COLUMNS, STRIPS, strips, strongest
from segstress.results.study import Frame, Study


def frame(delta: float, channels: int = 3) -> Frame:
    image = np.full((channels, 4, 6), 0.5, dtype=np.float32)
    labels = np.zeros((4, 6), dtype=np.int64)
    return Frame("id", "pgd", image, (image + delta).astype(np.float32), labels, labels, labels)


def test_classes_have_their_colour_and_void_looks_like_none() -> None:
    labels = np.arange(-1, len(CLASSES))[:, None].repeat(8, 1)
    painted = paint(labels, PALETTE)
    for klass, colour in enumerate(PALETTE):
        assert (painted[klass + 1] == colour).all()
    void = {tuple(pixel) for pixel in painted[0]}
    assert len(void) == 2
    assert not void & set(PALETTE)


@pytest.mark.parametrize(("delta", "factor"), [(8 / 255, 15), (-0.3 / 255, 424), (0.9, 1), (0.0, 1)])
def test_delta_is_amplified_as_far_as_it_fits(delta: float, factor: int) -> None:
    assert amplification(frame(delta)) == pytest.approx(factor, abs=1)
    shown = draw(frame(delta), "delta", PALETTE)[0, 0, 0] / 255
    assert shown == pytest.approx(np.clip(0.5 + amplification(frame(delta)) * delta, 0, 1), abs=0.01)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_any_number_of_channels_can_be_shown(channels: int) -> None:
    assert photograph(frame(0, channels).image).shape == (4, 6, 3)


def test_the_most_harmful_frame_stands_for_an_image() -> None:
    good, bad = frame(0.1), replace(frame(0.1), outcome="cw", prediction=np.ones((4, 6), dtype=np.int64))
    assert strongest([good, bad])["id"] is bad
    assert strongest([bad, good, bad])["id"] is bad


def test_every_frame_has_its_files_and_what_is_shared_is_written_once(real: Study, tmp_path: Path) -> None:
    files = PageFiles(tmp_path)
    shown = files.part("s", strips=strips(real, "s")).strips
    assert files.failures == []
    assert len(shown) == STRIPS
    assert len(list(tmp_path.glob("gallery/*.png"))) == 6 * 3 + len(real.frames) * 4
    for strip in shown:
        assert [picture.caption.partition(",")[0] for picture in strip.pictures] == list(COLUMNS)
        assert all(picture.small == picture.file for picture in strip.pictures)
        worst = strongest(real.frames)[strip.name]
        assert right(worst.truth, worst.prediction) <= right(worst.truth, worst.clean)
        image, _, _, perturbed, *_ = (np.asarray(Image.open(tmp_path / picture.file)) for picture in strip.pictures)
        assert image.shape == (48, 64, 3)
        assert 0 < np.abs(image.astype(int) - perturbed).max() <= 9


def test_the_error_map_tells_what_the_perturbation_turned_from_what_was_wrong_before() -> None:
    labels = np.array([[0, 0, 0, -1]])
    seen = Frame("id", "pgd", *(np.zeros((3, 1, 4)),) * 2, labels, np.array([[0, 0, 1, 0]]), np.array([[0, 2, 1, 3]]))
    drawn = [tuple(int(level) for level in pixel) for pixel in draw(seen, "error map", PALETTE)[0]]
    assert drawn[:3] == [RIGHT, LOST, WRONG]
    assert drawn[3] not in (RIGHT, LOST, WRONG)


def test_the_catalogue_has_every_frame_with_its_figures_and_files(real: Study, tmp_path: Path) -> None:
    assessment = assess(real)
    found = catalogue([("s", assessment)])
    assert found is not None
    files = PageFiles(tmp_path)
    files.part("s", strips=strips(real, "s"))
    (study,) = found["studies"]
    assert len(study["frames"]) == len(real.frames)
    for frame, (image, outcome, accuracy, *_) in zip(real.frames, study["frames"], strict=True):
        id_, slug, clean, *_, warning = study["images"][image]
        label, name = study["outcomes"][outcome]
        assert (id_, label) == (frame.image_id, frame.outcome)
        assert (tmp_path / "gallery" / f"s--{slug}--{name}--error-map.png").is_file()
        assert clean == pytest.approx(right(frame.truth, frame.clean), abs=1e-4)
        if id_ == "test/0003":
            assert warning
        else:
            assert accuracy == pytest.approx(right(frame.truth, frame.prediction), abs=1e-4)
    assert catalogue([("s", assess(replace(real, frames=())))]) is None
