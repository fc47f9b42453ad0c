"""Label Studio's JSON with bitmasks: a PNG for each class, exact to the pixel."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ...core import BadImage, BadInput, settings
from .ballot import Ballot, Reading, Scheme, colour_of, formats, open_image, png, write_pixels

TASKS, CONFIG = "tasks.json", "config.xml"
VOID_NAME = "void"
PREFIX = "data:image/png;base64,"


@formats.register("label-studio")
@settings
class LabelStudio:
    """Label Studio: tasks.json to import, config.xml for its interface, images to serve as local files."""

    def write(self, ballots: Iterable[Ballot], scheme: Scheme, folder: Path) -> None:
        """Tasks whose labels to begin from are predictions."""
        folder.mkdir(parents=True, exist_ok=True)
        tasks = []
        for ballot in ballots:
            write_pixels(ballot, folder / "images")
            path = f"/data/local-files/?d=images/{ballot.image}.png"
            result = _regions(ballot.labels, scheme)
            tasks.append({"data": {"image": path, "id": ballot.image}, "predictions": [{"result": result}]})
        (folder / TASKS).write_text(json.dumps(tasks))
        (folder / CONFIG).write_text(_config([*scheme.classes, VOID_NAME]))

    def read(self, folder: Path, scheme: Scheme) -> Iterator[Reading]:
        """Every task of a JSON export, by its last annotation."""
        for path in [folder] if folder.is_file() else sorted(folder.glob("*.json")):
            try:
                tasks = json.loads(path.read_text(encoding="utf-8"))
            except (ValueError, OSError) as error:
                raise BadInput(f"{path} cannot be read as JSON ({error}); export the project again") from error
            if not isinstance(tasks, list):
                raise BadInput(f"{path}: expected a list of tasks, found {type(tasks).__name__}")
            yield from (_read(task, scheme) for task in tasks)


def _config(names: Sequence[str]) -> str:
    colours = ("#" + bytes(colour_of(place + 1)).hex() for place, _ in enumerate(names))
    labels = "".join(
        f"    <Label value={quoteattr(name)} background={quoteattr(colour)}/>\n"
        for name, colour in zip(names, colours, strict=True)
    )
    return (
        '<View>\n  <Image name="image" value="$image" smoothing="false"/>\n'
        f'  <BitmaskLabels name="labels" toName="image">\n{labels}  </BitmaskLabels>\n</View>\n'
    )


def _regions(labels: np.ndarray, scheme: Scheme) -> list[dict[str, Any]]:
    height, width = labels.shape
    blank = scheme.blank(1, 1)[0, 0]
    regions = []
    for label in np.unique(labels).tolist():
        if label == blank:
            continue
        picture = np.zeros((height, width, 4), dtype=np.uint8)  # black where painted, else transparent
        picture[..., 3] = 255 * (labels == label)
        name = VOID_NAME if label == scheme.void else scheme.classes[label]
        regions.append(
            {
                "id": f"region-{label}",
                "type": "bitmasklabels",
                "from_name": "labels",
                "to_name": "image",
                "original_width": width,
                "original_height": height,
                "image_rotation": 0,
                "value": {"imageDataURL": PREFIX + base64.b64encode(png(picture)).decode(), "bitmasklabels": [name]},
            }
        )
    return regions


def _read(task: Mapping[str, Any], scheme: Scheme) -> Reading:
    try:
        data = task["data"]
        image = str(data.get("id") or PurePosixPath(data["image"]).stem)
    except (KeyError, TypeError, AttributeError) as error:
        return Reading("?", fault=f"a task without data.image ({error!r})")
    try:
        done = task.get("annotations") or task.get("predictions") or []
        if not done:
            raise BadImage("nobody has annotated it")
        return Reading(image, _labels(done[-1]["result"], scheme))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        reason = error if isinstance(error, BadInput) else f"cannot be read ({error!r})"
        return Reading(image, fault=f"{image}: {reason}")


def _labels(result: list[Mapping[str, Any]], scheme: Scheme) -> np.ndarray:
    regions = [region for region in result if region.get("type") == "bitmasklabels"]
    if not regions:
        raise BadImage("has no bitmask; paint at least one region, or reject the image when screening")
    labels = scheme.blank(int(regions[0]["original_height"]), int(regions[0]["original_width"]))
    for region in regions:
        (name,) = region["value"]["bitmasklabels"]
        label = scheme.void if name == VOID_NAME and name not in scheme.classes else scheme.place(name)
        url = region["value"]["imageDataURL"]
        picture = open_image(base64.b64decode(url.partition(",")[2]), "its bitmask").convert("RGBA")
        if picture.size != labels.shape[::-1]:
            raise BadImage(f"a bitmask is {picture.size}, the image {labels.shape[::-1]} (width, height)")
        labels[np.asarray(picture)[..., 3] > 0] = label
    return labels
