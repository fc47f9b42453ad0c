"""Pictures show what they claim to show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sample_study import CLASSES, PALETTE

from segstress.reports.kit import PageFiles
from segstress.reports.kit.pictures import paint, photograph
from segstress.reports.study.gallery import COLUMNS, amplification, draw, right, strips, strongest
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
    assert len(shown) == 6
    assert len(list(tmp_path.glob("gallery/*.png"))) == 6 * 3 + len(real.frames) * 3
    for strip in shown:
        assert [picture.caption.partition(",")[0] for picture in strip.pictures] == list(COLUMNS)
        assert all(picture.data.startswith("data:image/") for picture in strip.pictures)
        worst = strongest(real.frames)[strip.name]
        assert right(worst.truth, worst.prediction) <= right(worst.truth, worst.clean)
        image, _, _, perturbed, *_ = (np.asarray(Image.open(tmp_path / picture.file)) for picture in strip.pictures)
        assert image.shape == (48, 64, 3)
        assert 0 < np.abs(image.astype(int) - perturbed).max() <= 9
