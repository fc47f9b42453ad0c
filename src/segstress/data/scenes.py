"""Scenes of simple objects: drawn from one generator each, so the same seed gives the same scene on every machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64, UInt8
from numpy import ndarray
from numpy.random import Generator
from scipy import ndimage

from .resizing import Sides

CLASSES = ("background", "disc", "square", "triangle", "cross", "ring", "striped")
HUES = np.array([(0, 0, 0), (2, -1, -1), (-1, 2, -1), (-1, -1, 2), (2, 2, -2), (2, -2, 2), (-2, 2, 2)]) / 2
HUE_SHARE = 0.45  # of an object's colour that its class decides; the rest is chance, so colour alone is ambiguous
GRAIN_PERIOD, GRAIN_ANGLE = 3.0, math.pi / 6  # pixels; angle between the grains of one class and the next
STRIPES = 0.09  # their height
REACH = 1.27  # of the furthest corner from an object's centre, in half diameters


@dataclass(frozen=True)
class Appearance:
    """From which ranges scenes are drawn; colours are in [0, 1], lengths in pixels."""

    ground: tuple[float, float] = (0.4, 0.6)  # colour of the background
    relief: float = 0.04  # height of its texture
    objects: tuple[int, int] = (8, 16)  # in 96 x 96 pixels; larger scenes hold more, at the same density
    clutter: tuple[int, int] = (0, 0)  # bars that belong to the background, likewise
    diameter: tuple[int, int] = (6, 64)  # log-uniform
    contrast: tuple[float, float] = (0.10, 0.34)  # between an object and the background, whatever its size
    lighting: float = 0.10  # largest share by which light rises or falls towards the border
    noise: float = 0.012  # standard deviation


USUAL = Appearance()
SHIFTED = Appearance(
    ground=(0.25, 0.75), relief=0.12, objects=(4, 20), clutter=(4, 10), diameter=(4, 88), lighting=0.35, noise=0.02
)


@dataclass(frozen=True)
class Thing:
    """One object of a scene; kind 0 is clutter."""

    kind: int
    diameter: float
    row: float
    column: float
    turn: float  # radians
    colour: Float[ndarray, " rgb"]


def draw_scene(
    random: Generator, sides: Sides, look: Appearance, grain: float
) -> tuple[UInt8[ndarray, "h w 3"], Int64[ndarray, "h w"]]:
    """Draw an image and its labels: a textured ground, objects, the small ones in front, then light and noise."""
    ground = random.uniform(*look.ground, 3)
    relief = 0.6 * _value_noise(random, sides, 16) + 0.4 * _value_noise(random, sides, 6)
    image = ground + look.relief * relief[..., None]
    labels = np.zeros(sides, dtype=np.int64)
    for thing in sorted(_cast(random, sides, look, ground), key=lambda thing: -thing.diameter):
        _paint(random, thing, grain, image, labels)
    image *= _light(random, sides, look.lighting)[..., None]
    image += random.normal(0, look.noise, image.shape)
    return (255 * image.clip(0, 1)).round().astype(np.uint8), labels


def find_border(labels: Int64[ndarray, "h w"], width: int) -> Bool[ndarray, "h w"]:
    """Mark where another class begins within so many pixels."""
    side = 2 * width + 1
    near: Bool[ndarray, "h w"] = ndimage.maximum_filter(labels, side) != ndimage.minimum_filter(labels, side)
    return near


def _cast(random: Generator, sides: Sides, look: Appearance, ground: Float[ndarray, " rgb"]) -> list[Thing]:
    """Draw lots for everything that the scene will hold."""
    density = sides[0] * sides[1] / 96**2
    objects, clutter = (round(density * random.integers(*span, endpoint=True)) for span in (look.objects, look.clutter))
    kinds = [*random.integers(1, len(CLASSES), objects), *[0] * clutter]
    return [
        Thing(
            kind=int(kind),
            diameter=math.exp(random.uniform(*np.log(look.diameter))),
            row=random.uniform(0, sides[0]),
            column=random.uniform(0, sides[1]),
            turn=random.uniform(0, 2 * math.pi),
            colour=ground + random.uniform(*look.contrast) * _tint(random, HUES[kind]),
        )
        for kind in kinds
    ]


def _tint(random: Generator, hue: Float[ndarray, " rgb"]) -> Float[ndarray, " rgb"]:
    """Choose a direction of colour between the hue and chance, its largest part 1."""
    chance = random.uniform(-1, 1, 3)
    tint: Float[ndarray, " rgb"] = HUE_SHARE * hue + (1 - HUE_SHARE) * chance / abs(chance).max()
    tint /= abs(tint).max()
    return tint


def _paint(
    random: Generator, thing: Thing, grain: float, image: Float[ndarray, "h w 3"], labels: Int64[ndarray, "h w"]
) -> None:
    """Put one object over what is there, in its own window of the scene."""
    half = REACH * thing.diameter / 2
    window = tuple(
        slice(max(0, math.floor(centre - half)), math.ceil(centre + half)) for centre in (thing.row, thing.column)
    )
    patch = image[window]
    y, x = np.mgrid[window][:, : patch.shape[0], : patch.shape[1]] + 0.5  # pixel centres
    inside = covers(thing, x - thing.column, y - thing.row)
    surface = 0.02 * _value_noise(random, inside.shape, 12)
    if CLASSES[thing.kind] == "striped":
        angle, period = random.uniform(0, math.pi), random.uniform(5, 8)
        surface += STRIPES * np.sign(_wave(random, x, y, angle, period))
    if thing.kind:
        surface += grain * _wave(random, x, y, thing.kind * GRAIN_ANGLE, GRAIN_PERIOD)
    patch[inside] = thing.colour + surface[inside, None]
    labels[window][inside] = thing.kind


def covers(thing: Thing, x: Float[ndarray, "h w"], y: Float[ndarray, "h w"]) -> Bool[ndarray, "h w"]:
    """Tell where the object is, in coordinates turned with it and measured in half diameters."""
    cosine, sine = (2 / thing.diameter * part for part in (math.cos(thing.turn), math.sin(thing.turn)))
    u, v = cosine * x + sine * y, cosine * y - sine * x
    match CLASSES[thing.kind]:
        case "disc" | "striped":
            return np.hypot(u, v) < 1
        case "square":
            return np.maximum(abs(u), abs(v)) < 0.89
        case "triangle":
            return np.maximum(v, abs(u) * math.sqrt(0.75) - v / 2) < 0.62
        case "cross":
            short, long = np.minimum(abs(u), abs(v)), np.maximum(abs(u), abs(v))
            return (short < 0.36) & (long < 1.05)
        case "ring":
            return abs(np.hypot(u, v) - 0.8) < 0.25
    return (abs(u) < 1) & (abs(v) < 0.15)  # clutter: a bar


def _wave(random: Generator, x: ndarray, y: ndarray, angle: float, period: float) -> Float[ndarray, "h w"]:
    """Make a sinusoid across the image with a random phase."""
    along = math.cos(angle) * x + math.sin(angle) * y
    return np.sin(2 * math.pi / period * along + random.uniform(0, 2 * math.pi))


def _light(random: Generator, sides: Sides, strength: float) -> Float[ndarray, "h w"]:
    """Make light that changes linearly in a random direction."""
    angle = random.uniform(0, 2 * math.pi)
    y, x = np.ix_(*(np.linspace(-1, 1, side) for side in sides))
    slope = (math.cos(angle) * x + math.sin(angle) * y) / (abs(math.cos(angle)) + abs(math.sin(angle)))
    return 1 + random.uniform(0, strength) * slope


def _value_noise(random: Generator, sides: Sides, cell: int) -> Float[ndarray, "h w"]:
    """Make smooth noise in [-1, 1]: random values on a grid of cells so many pixels wide, joined by smoothstep."""
    grid = random.uniform(-1, 1, [side // cell + 2 for side in sides])
    (rows, down), (columns, across) = (_cells(side, cell) for side in sides)
    lines = grid[:, columns] + across * (grid[:, columns + 1] - grid[:, columns])
    noise: Float[ndarray, "h w"] = lines[rows] + down[:, None] * (lines[rows + 1] - lines[rows])
    return noise


def _cells(side: int, cell: int) -> tuple[ndarray, ndarray]:
    """Find the cell of each pixel and how far across it the pixel is, smoothed."""
    places, rest = np.divmod(np.arange(side), cell)
    share = rest / cell
    return places, share * share * (3 - 2 * share)
