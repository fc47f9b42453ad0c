"""What every format of annotation tools must keep; `check_format` is public, for authors of plug-ins."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from ..competition.formats.label_task import Format, LabelTask, Scheme, formats
from ..core import Spec
from .settings import check_settings

SCHEMES = (Scheme(["background", "cat", "dog & co"], background=0), Scheme(["sky", "road"]))


def check_format(format_: Format | Spec) -> None:
    """Run every check, one after the other; the first that fails raises AssertionError and says why."""
    built = format_ if isinstance(format_, Format) else formats.build(format_)
    check_settings(formats, built)
    for scheme in SCHEMES:
        for check in FORMAT_CHECKS:
            with TemporaryDirectory() as folder:
                check(built, scheme, Path(folder))


def tasks_of(scheme: Scheme) -> list[LabelTask]:
    """Return the images of different sizes: one with every class and void, one of a single pixel, one of one class."""
    random = np.random.default_rng(0)
    tasks = []
    for number, sides in enumerate([(9, 13), (1, 1), (17, 4)]):
        labels = random.integers(len(scheme.classes), size=sides).astype(scheme.blank(1, 1).dtype)
        labels[random.random(sides) < 0.1] = scheme.void
        if number:
            labels[:] = 1
        tasks.append(LabelTask(f"{number:016x}", random.integers(256, size=(*sides, 3)).astype(np.uint8), labels))
    return tasks


def check_comes_back(format_: Format, scheme: Scheme, folder: Path) -> None:
    """Check that what was written and not touched comes back, image by image and pixel by pixel."""
    tasks = tasks_of(scheme)
    format_.write(tasks, scheme, folder)
    answers = {answer.image: answer for answer in format_.read(folder, scheme)}
    assert sorted(answers) == [task.image for task in tasks], f"images {sorted(answers)} came back"
    for task in tasks:
        answer = answers[task.image]
        assert not answer.fault, f"its own file is broken: {answer.fault}"
        assert not answer.rejected, "an image that nobody rejected came back rejected"
        assert answer.labels is not None, "no labels came back"
        assert answer.labels.dtype == task.labels.dtype, f"labels of {answer.labels.dtype}"
        assert (answer.labels == task.labels).all(), f"{int((answer.labels != task.labels).sum())} labels changed"


def check_shows_the_pixels(format_: Format, scheme: Scheme, folder: Path) -> None:
    """Check that annotators see each image as it is, without loss."""
    tasks = tasks_of(scheme)
    format_.write(tasks, scheme, folder)
    for task in tasks:
        seen = [path for path in folder.rglob(f"{task.image}*") if path.suffix in (".png", ".bmp", ".tif", ".tiff")]
        pixels = [np.asarray(Image.open(path).convert("RGB")) for path in seen]
        shown = any(picture.shape == task.pixels.shape and (picture == task.pixels).all() for picture in pixels)
        assert shown, f"no picture of {task.image} in the folder shows its pixels"


def check_survives_rubbish(format_: Format, scheme: Scheme, folder: Path) -> None:
    """Check that a file that is cut short is told of in one line, and the others are read."""
    tasks = tasks_of(scheme)
    format_.write(tasks, scheme, folder)
    written = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in (".json", ".png"))
    for path in (path for path in written if tasks[0].image in path.name):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    answers = list(format_.read(folder, scheme))
    assert all("\n" not in answer.fault for answer in answers), "a fault of several lines"
    good = {answer.image for answer in answers if not answer.fault and answer.labels is not None}
    assert {task.image for task in tasks[1:]} <= good, "a broken file kept others from being read"


FORMAT_CHECKS = (check_comes_back, check_shows_the_pixels, check_survives_rubbish)
