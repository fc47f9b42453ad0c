"""Figures of parts that were attacked one by one: share lost against size, maps of what fell, erased objects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage

from ...metrics.objects import object_hits, objects
from ...results.study import Frame, PartsFrame
from ..kit.drawing import CALM, HARM, INK, Drawing, canvas, mosaic
from ..kit.pictures import paint, photograph
from .assessment import Assessment
from .figures import area_axis
from .floors import STATES, attacked_alone, object_fates
from .registry import drawings

ALONE = "#e09f3e"  # falls only when attacked alone
COLOURS = {"clean": CALM, "joint": HARM, "alone": ALONE}
WRONG, JOINT, LONELY, STANDS = range(4)  # what becomes of an object or pixel: wrong on the clean image ...
FATES = (INK, HARM, ALONE, CALM)  # and its colour in the maps
SIDE = 384  # pixels of a map on its longer side
Tile = tuple[str, np.ndarray]  # what is written above it, and its pixels


@drawings.register("floor-sizes")
def lost_by_size(assessment: Assessment) -> Drawing | None:
    """Draw the share of objects lost against their area: clean, joint worst case, alone."""
    fates = object_fates(assessment)
    groups = [] if fates is None else list(fates.sizes())
    if fates is None or len(groups) < 2:
        return None
    figure, (axis,) = canvas(3.0)
    steps = np.arange(len(groups))
    for state, words in STATES.items():
        if state in fates.correct:
            shares = [fates.share("lost", state, among) for among in groups]
            axis.plot(steps, [share.value for share in shares], color=COLOURS[state], marker="o", ms=4, label=words)
            low, high = [share.low for share in shares], [share.high for share in shares]
            axis.fill_between(steps, low, high, color=COLOURS[state], alpha=0.15, linewidth=0)
    area_axis(axis, [fates.area[among].max() for among in groups], "objects lost, %")
    figure.legend(loc="outside upper right", ncols=3)
    caption = (
        "Objects of the truth in tenths by area, smallest left: the share of which under half of the pixels is right,"
        " on the clean image, where a joint attack left the fewest pixels of the image right, and when the object is"
        " attacked alone. Shaded: 95 % intervals over images."
    )
    return Drawing("floor-sizes", "Objects lost, by size", caption, figure)


@drawings.register("floor-maps")
def fate_maps(assessment: Assessment) -> Drawing | None:
    """Draw what fell in a few images: objects painted whole, pixels as dots."""
    frames: dict[str, dict[str, PartsFrame]] = {}
    for parts in ("objects", "pixels"):
        alone = attacked_alone(assessment, parts)
        for frame in alone.frames if alone is not None else ():
            if _joint(assessment, frame) is not None:
                frames.setdefault(frame.image_id, {})[parts] = frame
    rows = [_row(assessment, image, by_parts) for image, by_parts in frames.items()]
    if not rows:
        return None
    caption = (
        "Grey: not attacked. Black: wrong on the clean image already. Red: falls under the joint attack that left"
        " the fewest pixels of the image right. Orange: falls only when attacked alone. Blue: right even then. An"
        " object falls with over half of its pixels."
    )
    return Drawing("floor-maps", "What falls together, what falls alone, what stays right", caption, mosaic(rows))


def _row(assessment: Assessment, image: str, frames: dict[str, PartsFrame]) -> list[Tile]:
    first = next(iter(frames.values()))
    tiles = [(image, photograph(first.image)), ("truth", paint(first.truth, assessment.study.palette))]
    if "objects" in frames:
        tiles.append(("objects", _object_map(assessment, frames["objects"])))
    if "pixels" in frames:
        tiles.append(("pixels", _pixel_map(assessment, frames["pixels"])))
    return tiles


def _object_map(assessment: Assessment, frame: PartsFrame) -> np.ndarray:
    """Return every object in the colour of what became of it."""
    pieces = objects(frame.truth, frame.truth >= 0, assessment.study.background)
    lost = [2 * object_hits(pieces, prediction) < pieces.areas for prediction in _stages(assessment, frame)]
    fate = np.append(_fate(lost), 0)[pieces.components - 1]  # component 0 reads the last one
    colours = np.array([_rgb(colour) for colour in FATES], dtype=np.uint8)[fate]
    return np.where((pieces.components > 0)[..., None], colours, _faint(frame.image))


def _pixel_map(assessment: Assessment, frame: PartsFrame) -> np.ndarray:
    """Return every drawn pixel as a dot in the colour of what became of it."""
    fate = _fate([prediction != frame.truth for prediction in _stages(assessment, frame)])
    height, width = frame.truth.shape
    scale = SIDE / max(height, width)
    picture = Image.fromarray(_faint(frame.image)).resize((round(scale * width), round(scale * height)))
    pen, radius = ImageDraw.Draw(picture), max(4.0, 0.75 * scale)
    for row, column in np.argwhere(frame.attacked):
        x, y = scale * (column + 0.5), scale * (row + 0.5)
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), FATES[fate[row, column]])
    return np.asarray(picture)


def _stages(assessment: Assessment, frame: PartsFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the clean prediction, that of the joint worst case, and part by part."""
    joint = _joint(assessment, frame)
    return frame.clean, frame.clean if joint is None else joint, frame.prediction


def _joint(assessment: Assessment, frame: PartsFrame) -> np.ndarray | None:
    """Return the prediction where accuracy is worst: clean where no attack lowered it, none without a picture."""
    candidate = assessment.worst["accuracy"].chosen[assessment.study.ids.index(frame.image_id)]
    if candidate <= 0:
        return frame.clean
    predictions = {(other.image_id, other.outcome): other.prediction for other in assessment.study.frames}
    return predictions.get((frame.image_id, assessment.labels[candidate]))


def _fate(fallen: Sequence[np.ndarray]) -> np.ndarray:
    """Return the first stage at which it fell."""
    clean, joint, alone = fallen
    return np.select([clean, joint, alone], [WRONG, JOINT, LONELY], STANDS)


@drawings.register("floor-erased")
def erased_objects(assessment: Assessment) -> Drawing | None:
    """Draw a few erased objects: before, and in the image made for them alone."""
    alone = attacked_alone(assessment, "objects")
    rows = [_before_and_after(assessment, *example) for example in (alone.erased if alone is not None else ())]
    if not rows:
        return None
    caption = (
        "Each row is one object, outlined, of which no pixel is right in the image made for it alone: image, clean"
        " prediction, perturbed image, prediction there. At most one object of an image, chosen by hash."
    )
    return Drawing("floor-erased", "Erased objects", caption, mosaic(rows))


def _before_and_after(assessment: Assessment, number: int, frame: Frame) -> list[Tile]:
    pieces, palette = objects(frame.truth, frame.truth >= 0, assessment.study.background), assessment.study.palette
    name, area = assessment.study.classes[pieces.classes[number]], pieces.areas[number]
    tiles = (
        (f"{frame.image_id}: {name}, {area} pixels", photograph(frame.image)),
        ("clean prediction", paint(frame.clean, palette)),
        ("perturbed image", photograph(frame.perturbed)),
        ("prediction", paint(frame.prediction, palette)),
    )
    return [(words, _outlined(pixels, pieces.components == number + 1)) for words, pixels in tiles]


def _outlined(pixels: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Draw a line around a part, on a picture large enough for a thin one."""
    times = max(1, SIDE // max(part.shape))
    large, inside = (array.repeat(times, 0).repeat(times, 1) for array in (pixels, part))
    near, far = (ndimage.binary_dilation(inside, iterations=reach) for reach in (3, 5))
    framed = np.where((far & ~near)[..., None], np.uint8(0), large)
    return np.where((near & ~inside)[..., None], np.uint8(255), framed)  # white in black: seen on every colour


def _faint(image: np.ndarray) -> np.ndarray:
    """Turn a photograph light grey, for colours to stand on."""
    grey = photograph(image).mean(2, keepdims=True).repeat(3, 2)
    faint: np.ndarray = (255 - 0.35 * (255 - grey)).astype(np.uint8)
    return faint


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue
