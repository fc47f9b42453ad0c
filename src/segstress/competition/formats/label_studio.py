"""Label Studio's JSON: a bitmask (PNG) or a brush (runs) for each class, both exact to the pixel."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

import numpy as np

from ...core import BadImage, BadInput, settings
from .label_task import (
    LabelResult,
    LabelTask,
    Scheme,
    attempt,
    check_size,
    colour_of,
    formats,
    open_image,
    png,
    read_json,
    write_pixels,
)
from .rle_pack import pack_runs, unpack_runs

TASKS, CONFIG = "tasks.json", "config.xml"
VOID_NAME = "void"
TAGS = {"bitmask": "BitmaskLabels", "brush": "BrushLabels"}
PREFIX = "data:image/png;base64,"


@formats.register("label-studio")
@settings
class LabelStudio:
    """Label Studio: tasks.json to import, config.xml for its interface, images to serve as local files."""

    regions: Literal["bitmask", "brush"] = "bitmask"  # of what is written; both are read

    def write(self, tasks: Iterable[LabelTask], scheme: Scheme, folder: Path) -> None:
        """Write tasks whose labels to begin from are predictions."""
        folder.mkdir(parents=True, exist_ok=True)
        entries = []
        for task in tasks:
            write_pixels(task, folder / "images")
            path = f"/data/local-files/?d=images/{task.image}.png"
            result = _regions(task.labels, scheme, self.regions)
            entries.append({"data": {"image": path, "id": task.image}, "predictions": [{"result": result}]})
        (folder / TASKS).write_text(json.dumps(entries))
        (folder / CONFIG).write_text(_config([*scheme.classes, VOID_NAME], TAGS[self.regions]))

    def read(self, folder: Path, scheme: Scheme) -> Iterator[LabelResult]:
        """Yield every task of a JSON export, by its last annotation."""
        for path in [folder] if folder.is_file() else sorted(folder.glob("*.json")):
            tasks = read_json(path)
            if not isinstance(tasks, list):
                raise BadInput(f"{path}: expected a list of tasks, found {type(tasks).__name__}")
            yield from (_read(task, scheme) for task in tasks)


def _config(names: Sequence[str], tag: str) -> str:
    colours = ("#" + bytes(colour_of(label + 1)).hex() for label, _ in enumerate(names))
    labels = "".join(
        f"    <Label value={quoteattr(name)} background={quoteattr(colour)}/>\n"
        for name, colour in zip(names, colours, strict=True)
    )
    return (
        '<View>\n  <Image name="image" value="$image" smoothing="false"/>\n'
        f'  <{tag} name="labels" toName="image">\n{labels}  </{tag}>\n</View>\n'
    )


def _regions(labels: np.ndarray, scheme: Scheme, kind: str) -> list[dict[str, Any]]:
    height, width = labels.shape
    blank = scheme.blank(1, 1)[0, 0]
    tag = TAGS[kind].lower()
    regions = []
    for label in np.unique(labels).tolist():
        if label == blank:
            continue
        name = VOID_NAME if label == scheme.void else scheme.classes[label]
        regions.append(
            {
                "id": f"region-{label}",
                "type": tag,
                "from_name": "labels",
                "to_name": "image",
                "original_width": width,
                "original_height": height,
                "image_rotation": 0,
                "value": {**_painted(labels == label, kind), tag: [name]},
            }
        )
    return regions


def _painted(mask: np.ndarray, kind: str) -> dict[str, Any]:
    """Return RGBA, of which the last says what is painted: black in a bitmask, white under a brush."""
    opacity = np.where(mask, 255, 0).astype(np.uint8)
    if kind == "brush":
        return {"format": "rle", "rle": list(pack_runs(np.repeat(opacity.ravel(), 4)))}
    picture = np.zeros((*mask.shape, 4), dtype=np.uint8)
    picture[..., 3] = opacity
    return {"imageDataURL": PREFIX + base64.b64encode(png(picture)).decode()}


def _read(task: Mapping[str, Any], scheme: Scheme) -> LabelResult:
    try:
        data = task["data"]
        image = str(data.get("id") or PurePosixPath(data["image"]).stem)
    except (KeyError, TypeError, AttributeError) as error:
        return LabelResult("?", fault=f"a task without data.image ({error!r})")
    return attempt(image, lambda: LabelResult(image, _labels(_done(task)["result"], scheme)))


def _done(task: Mapping[str, Any]) -> Mapping[str, Any]:
    done = task.get("annotations") or task.get("predictions") or []
    if not done:
        raise BadImage("nobody has annotated it")
    last: Mapping[str, Any] = done[-1]
    return last


def _labels(result: list[Mapping[str, Any]], scheme: Scheme) -> np.ndarray:
    kinds = {tag.lower() for tag in TAGS.values()}
    regions = [region for region in result if region.get("type") in kinds]
    if not regions:
        raise BadImage("has no bitmask or brush; paint at least one region, or reject the image when screening")
    labels = scheme.blank(*check_size(int(regions[0]["original_height"]), int(regions[0]["original_width"])))
    for region in regions:
        (name,) = region["value"][region["type"]]
        label = scheme.void if name == VOID_NAME and name not in scheme.classes else scheme.index(name)
        labels[_opacity(region["value"], labels.shape) > 0] = label
    return labels


def _opacity(value: Mapping[str, Any], shape: tuple[int, ...]) -> np.ndarray:
    """Tell how much of each pixel is painted."""
    if "rle" in value:
        return unpack_runs(bytes(value["rle"]), 4 * shape[0] * shape[1]).reshape(*shape, 4)[..., 3]
    picture = open_image(base64.b64decode(value["imageDataURL"].partition(",")[2]), "its bitmask").convert("RGBA")
    if picture.size != shape[::-1]:
        raise BadImage(f"a bitmask is {picture.size}, the image {shape[::-1]} (width, height)")
    return np.asarray(picture)[..., 3]
