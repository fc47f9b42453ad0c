"""CVAT's "Segmentation mask 1.1": a zip of colour masks and the list of what the colours mean."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from ...core import BadImage, BadInput, settings
from ...data.labelling import UNKNOWN, colour_code, translate
from .label_task import (
    LARGEST,
    LabelResult,
    LabelTask,
    Scheme,
    attempt,
    colour_of,
    formats,
    open_image,
    png,
    write_pixels,
)

ARCHIVE = "segmentation-masks.zip"
MASKS = "SegmentationClass"
VOID_NAME, VOID_LABEL = "void", 255  # the name of what does not count, and the label whose colour it takes


@formats.register("cvat")
@settings
class Cvat:
    """CVAT segmentation masks: a zip to upload, beside the images of the task."""

    def write(self, tasks: Iterable[LabelTask], scheme: Scheme, folder: Path) -> None:
        """Write the images in a folder, the masks in a zip."""
        folder.mkdir(parents=True, exist_ok=True)
        colours = np.array([*map(colour_of, range(len(scheme.classes))), colour_of(VOID_LABEL)], dtype=np.uint8)
        if len(np.unique(colours, axis=0)) < len(colours):
            raise BadInput(f"cvat: {len(scheme.classes)} classes need more than 255 colours; choose another format")
        names = []
        with zipfile.ZipFile(folder / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
            for task in tasks:
                write_pixels(task, folder / "images")
                colour_indices = np.where(task.labels == scheme.void, len(scheme.classes), task.labels)
                archive.writestr(f"{MASKS}/{task.image}.png", png(colours[colour_indices]))
                names.append(task.image)
            archive.writestr("ImageSets/Segmentation/default.txt", "".join(f"{name}\n" for name in names))
            archive.writestr("labelmap.txt", _label_map([*scheme.classes, VOID_NAME], colours))

    def read(self, folder: Path, scheme: Scheme) -> Iterator[LabelResult]:
        """Yield every mask in the zip, or in every zip of the folder."""
        archives = [folder] if folder.is_file() else sorted(folder.glob("*.zip"))
        if not archives:
            raise BadInput(f"{folder} holds no .zip; expected what CVAT exports as Segmentation mask 1.1")
        for path in archives:
            try:
                with zipfile.ZipFile(path) as archive:
                    yield from _read(archive, scheme)
            except BadInput:
                raise
            except Exception as error:  # broken zips raise almost anything
                raise BadInput(f"{path} is no CVAT export ({error}); export the task again") from error


def _label_map(names: Iterable[str], colours: np.ndarray) -> str:
    lines = ["# label:color_rgb:parts:actions"]
    lines += [f"{name}:{','.join(map(str, colour))}::" for name, colour in zip(names, colours.tolist(), strict=True)]
    return "\n".join(lines) + "\n"


def _read(archive: zipfile.ZipFile, scheme: Scheme) -> Iterator[LabelResult]:
    codes = _codes(_entry(archive, "labelmap.txt").decode(), scheme)
    for name in sorted(archive.namelist()):
        path = PurePosixPath(name)
        if path.parent.name == MASKS and path.suffix == ".png":
            yield attempt(path.stem, partial(_mask, archive, name, codes, scheme))


def _mask(archive: zipfile.ZipFile, name: str, codes: dict[int, int], scheme: Scheme) -> LabelResult:
    path = PurePosixPath(name)
    return LabelResult(path.stem, _labels(_entry(archive, name), path.name, codes, scheme))


def _entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read one entry, no further than entries go, whatever size it declares."""
    with archive.open(name) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BadImage(f"{name} is larger than {LARGEST:,} bytes, the most that is read")
    return data


def _codes(text: str, scheme: Scheme) -> dict[int, int]:
    """Return what each colour means; CVAT adds a `background` of its own for what nobody painted."""
    codes = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, colour = line.split(":")[:2]
            red, green, blue = (int(part) for part in colour.split(","))
            if name in scheme.classes or name not in (VOID_NAME, "background"):
                label = scheme.index(name)
            else:
                label = scheme.void if name == VOID_NAME else int(scheme.blank(1, 1)[0, 0])
            codes[colour_code((red, green, blue))] = label
    return codes


def _labels(data: bytes, name: str, codes: dict[int, int], scheme: Scheme) -> np.ndarray:
    red, green, blue = np.asarray(open_image(data, name).convert("RGB")).transpose(2, 0, 1)
    pixels = (red.astype(np.int64) << 16) | (green.astype(np.int64) << 8) | blue
    labels = translate(pixels, codes)
    if (labels == UNKNOWN).any():
        raise BadImage(f"{name}: colour 0x{pixels[labels == UNKNOWN][0]:06x} is not in labelmap.txt")
    return labels.astype(scheme.blank(1, 1).dtype)
