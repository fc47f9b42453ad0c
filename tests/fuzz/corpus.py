"""Hostile inputs made from a seed: sound files with something broken in them, and words that nobody should type."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import torch
from PIL import Image

from segstress.attacks import attacks
from segstress.competition.formats.label_task import Scheme, formats
from segstress.contests.rank import read_votes
from segstress.core import BadInput, perturbations, regions, targets
from segstress.corruptions import corruptions
from segstress.data import datasets
from segstress.data.packed_arrays import pack, unpack
from segstress.data.reading import read_image, read_mask
from segstress.models import models
from segstress.models.checkpoint import restore
from segstress.models.released import read_file
from segstress.planning import read_plan
from segstress.runtime.parquet import read_table, write_table
from segstress.testing.formats import tasks_of
from segstress.voting.decision_log import DecisionLog

CHECKPOINT = Path(str(resources.files("segstress"))) / "zoo" / "cnn-normal.safetensors"
WORDS = [
    *("nan", "inf", "-inf", "1e999", "-1", "0", "9" * 40, "9" * 5000, "''", "[]", "{}", "null", "~", "true", "\x00"),
    *("[/b]", "\ud800", "é", "=1+1", "../..", "&a [*a]", "*a", "!!python/object:os.system {}", "!!binary x", "<<"),
    *("2020-99-99", "0x", "1:2:3", "? ", ": ", "- ", "[" * 200, "{a: " * 200, "'", '"', "#", "\t", "%", "|", ">", "@"),
]
PLAN = """models: [compact:cnn-normal]
data:
  - shapes:test?count=2&size=16
perturbations:
  - pgd?steps=2
  - {attack: segpgd, steps: 3}
eps: 8/255
seed: 3
limit: 2
numerics: {batch_size: 2, threads: 1}
"""
SPECS = [
    (attacks, ["pgd?steps=2", "segpgd?steps=3&loss=ce", "apgd", "ddn?steps=2", "square?steps=3"]),
    (models, ["compact:cnn-normal?scale=2", "compact:unet?mean=0.5&std=1,2,3", "factory:x.py:net?classes=3"]),
    (datasets, ["shapes:test?count=2&size=16", "folder:x?classes=3&ignore=255", "voc:x"]),
    (corruptions, ["fog?levels=1,2", "snow", "jpeg_compression"]),
    (formats, ["labelme?shapes=polygons&tolerance=2", "cvat", "label-studio?regions=brush", "png"]),
    (targets, ["class:1", "map:x.png"]),
    (regions, ["rectangle?ratio=0.5"]),
    (perturbations, ["attack?algorithm=pgd&eps=8/255"]),
]


def spoil_text(chance: Random, text: str) -> str:
    """A few edits: characters lost, lines doubled, hostile words put in."""
    for _ in range(chance.randint(1, 4)):
        place, end = sorted(chance.randint(0, len(text)) for _ in range(2))
        edit = chance.randrange(5)
        if edit == 0:
            text = text[:place] + text[min(end, place + 5) :]
        elif edit == 1:
            text = text[:place] + chance.choice(WORDS) + text[place:]
        elif edit == 2:
            lines = text.splitlines(keepends=True) or [""]
            text += chance.choice(lines)
        elif edit == 3 and ":" in text:
            key, colon, _ = text.partition(":")
            text = key + colon + chance.choice(WORDS) + text[place:]
        else:
            text = text.replace(chance.choice("abcdepst=:[]{},"), chance.choice(WORDS), 1)
    return text


def spoil_bytes(chance: Random, data: bytes) -> bytes:
    """Bits flipped, an end or a middle lost, foreign bytes put in."""
    changed = bytearray(data)
    edit = chance.randrange(5)
    place = chance.randrange(len(changed)) if changed else 0
    if edit == 0:
        return bytes(changed[:place])
    if edit == 1:
        return bytes(changed[:place] + changed[place + chance.randint(1, 40) :])
    if edit == 2:
        return bytes(changed[:place] + chance.randbytes(chance.randint(1, 40)) + changed[place:])
    for _ in range(1 if edit == 3 else 30):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def bomb(chance: Random) -> bytes:
    """A PNG that declares far more pixels than it has, every checksum right."""
    sides = chance.choice([(2**31 - 1, 2**31 - 1), (60_000, 60_000), (1, 2**31 - 1), (20_000, 20_000), (0, 5)])
    header = struct.pack(">IIBBBBB", *sides, 8, chance.choice([0, 2, 3]), 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(1_000_000), 9)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def picture(chance: Random, mode: str) -> tuple[str, bytes]:
    """A sound little image file and its suffix."""
    random = np.random.default_rng(chance.randrange(2**32))
    array = random.integers(7, size=(8, 9, 3) if mode == "RGB" else (8, 9)).astype(np.uint8)
    suffix = chance.choice([".png", ".npy", ".npz", ".tif", ".bmp", ".jpg", ".webp"])
    file = io.BytesIO()
    if suffix == ".npy":
        np.save(file, array)
    elif suffix == ".npz":
        np.savez_compressed(file, image=array)
    else:
        kind = {".tif": "tiff", ".jpg": "jpeg"}.get(suffix, suffix[1:])
        Image.fromarray(array).save(file, kind)
    return suffix, file.getvalue()


def spoil_picture(chance: Random, folder: Path, mode: str) -> Path:
    """Write a broken image file; now and then a link, a folder or a name that is none."""
    suffix, data = picture(chance, mode)
    path = folder / f"x{chance.choice(['', '[/b]', chr(0xDCFF), ' '])}{suffix}"
    path.parent.mkdir(exist_ok=True)  # a name with [/b] is a file in a folder
    edit = chance.randrange(8)
    if edit == 0:
        path.symlink_to(folder / "nowhere")
    elif edit == 1:
        path.symlink_to("/dev/zero")
    elif edit == 2:
        path.mkdir()
    elif edit == 3:
        path.write_bytes(bomb(chance))
    else:
        path.write_bytes(spoil_bytes(chance, data))
    return path


def plans(chance: Random, folder: Path) -> None:
    path = folder / "plan.yaml"
    path.write_bytes(spoil_text(chance, PLAN).encode("utf-8", "surrogatepass"))
    read_plan(path)


def specs(chance: Random, folder: Path) -> None:
    registry, sound = chance.choice(SPECS)
    spec = spoil_text(chance, chance.choice(sound))
    registry.build(chance.choice([spec, {"kind": spec}, {"kind": spec.partition("?")[0], spec: spec}]))


def images(chance: Random, folder: Path) -> None:
    read_image(spoil_picture(chance, folder, "RGB"))


def masks(chance: Random, folder: Path) -> None:
    read_mask(spoil_picture(chance, folder, "L"), colours=chance.random() < 0.3)


def annotations(chance: Random, folder: Path) -> None:
    scheme = Scheme(["background", "cat", "dog"], background=0)
    names = ["labelme", "labelme?shapes=polygons", "label-studio", "label-studio?regions=brush", "cvat", "png"]
    chosen = formats.build(chance.choice(names))
    chosen.write(tasks_of(scheme), scheme, folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "images")
    path = chance.choice(files)
    content = path.read_bytes()
    if path.suffix == ".json" and chance.random() < 0.6:
        content = _spoil_json(chance, content.decode()).encode("utf-8", "surrogatepass")
    elif path.suffix == ".png" and chance.random() < 0.3:
        content = bomb(chance)
    else:
        content = spoil_bytes(chance, content)
    path.write_bytes(content)
    for result in chosen.read(folder, scheme):
        assert result.fault or result.labels is not None


def _spoil_json(chance: Random, text: str) -> str:
    """Numbers out of all bounds, nesting without end, or simple edits."""
    edit = chance.randrange(4)
    if edit == 0:
        return "[" * 100_000
    if edit == 1:
        number = chance.choice(["1e999", "99999999999", "-5", "0", "null", '"a"', "[]", "NaN"])
        key = chance.choice(["imageHeight", "imageWidth", "original_height", "points", "mask", "rle", "shapes"])
        return text.replace(f'"{key}": ', f'"{key}": {number}, "was": ', 1)
    return spoil_text(chance, text)


def shards(chance: Random, folder: Path) -> None:
    path = folder / "shard"
    if chance.random() < 0.5:
        data = pack({"a": np.arange(50, dtype=np.float32), "b": np.zeros((3, 4), np.uint8)})
        unpack(spoil_bytes(chance, data))
    else:
        columns = {"image": [f"image-{n}" for n in range(20)], "correct": list(range(20))}
        write_table(path, pa.table(columns))
        path.write_bytes(spoil_bytes(chance, path.read_bytes()))
        read_table(path, pa.schema([("image", pa.string()), ("correct", pa.int64())]))


def votes(chance: Random, folder: Path) -> None:
    log = DecisionLog(folder / "decisions-choose.jsonl")
    row = {
        "rater": "kim",
        "id": "a",
        "image": "x",
        "shown": ["m", "n"],
        "choice": "left",
        "trial": "t",
        "repeat": False,
    }
    rest = {"reason": "", "session": 0, "sequence": 0, "milliseconds": 5, "time": ""}
    for number in range(3):
        log.append(row | rest | {"id": str(number)})
    text = log.path.read_text()
    log.path.write_bytes(spoil_text(chance, text).encode("utf-8", "surrogatepass"))
    log.append(row | rest | {"id": "last"})
    assert DecisionLog(log.path).rows()[-1]["id"] == "last"
    read_votes(folder)


def checkpoints(chance: Random, folder: Path) -> None:
    safe = chance.random() < 0.5
    path = folder / ("x.safetensors" if safe else "x.pt")
    if safe:
        data = bytearray(CHECKPOINT.read_bytes())
        head = 8 + int.from_bytes(data[:8], "little")
        path.write_bytes(spoil_bytes(chance, bytes(data[:head])) + bytes(data[head:]))
        if chance.random() < 0.5:
            path.with_suffix(".json").write_text(
                spoil_text(chance, json.dumps({"architecture": "compact:cnn"})), errors="replace"
            )
        restore(path)
    else:
        torch.save({"weight": torch.zeros(3, 4), "bias": torch.zeros(4)}, path)
        path.write_bytes(spoil_bytes(chance, path.read_bytes()))
        read_file(path)


KINDS: dict[str, Callable[[Random, Path], None]] = {
    case.__name__: case for case in (plans, specs, images, masks, annotations, shards, votes, checkpoints)
}


def survives(kind: str, seed: int, folder: Path) -> str:
    """Run one case; what it said, or nothing. Any other error than BadInput passes through."""
    try:
        KINDS[kind](Random(f"{kind} {seed}"), folder)
    except BadInput as error:
        return str(error)
    return ""
