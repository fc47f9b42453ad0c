"""What a competition refuses, and how it goes on around what it cannot use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contests import MODELS, QUIET, compete, rows
from PIL import Image

from segstress.contests.compete import begin, walk
from segstress.contests.plan import read_contest
from segstress.core import BadInput, to_plain
from segstress.runtime import RunOptions

NETS = Path(__file__).parents[2] / "nets.py"
FUSSY = """
from pathlib import Path
import torch
from torch import nn

class Fussy(nn.Module):
    def forward(self, images):
        calm = Path(__file__).with_name("calm").exists()
        if not calm and (images[:, :, 0, 0] == 0).all(1).any():
            raise RuntimeError("does not like it")
        return torch.cat([images, images, images[:, :1]], 1)

def net():
    return Fussy()
"""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": MODELS[:1]}, "at least two different models"),
        ({"models": [MODELS[0], MODELS[0]]}, "at least two different models"),
        ({"metric": "iou"}, "unknown concordance"),
        ({"scale": "nowhere.yaml"}, "cannot be read"),
    ],
)
def test_bad_requests_are_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        compete(tmp_path / "run", **changes)


def test_an_empty_selection_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "scale.yaml"
    names = ("disc", "square", "triangle", "cross", "ring", "striped")
    table.write_text("".join(f"{name}: [0.9995, 0.9998]\n" for name in names))
    with pytest.raises(BadInput, match="the selection is empty"):
        compete(tmp_path / "run", scale=str(table))


def test_a_prediction_of_the_wrong_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="logits at"):
        compete(tmp_path / "run", models=[MODELS[0], f"factory:{NETS}:coarse"])


def test_an_image_that_a_model_cannot_answer_is_left_out_of_its_pairs(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    folder.mkdir()
    for number in range(6):
        pixels = np.random.default_rng(number).integers(1, 256, size=(32, 32, 3)).astype(np.uint8)
        pixels[0, 0] = 0 if number == 3 else 255
        Image.fromarray(pixels).save(folder / f"{number}.png")
    source = tmp_path / "fussy.py"
    source.write_text(FUSSY)
    pool = f"folder:{folder}?images=.&masks=none"
    models = [*MODELS[:2], f"factory:{source}:net"]
    competition = begin(read_contest({"models": models, "pool": pool, "scale": "none"}), tmp_path / "run")
    _, faults = walk(competition, QUIET, RunOptions(workers=1))
    assert len(faults) == 1
    assert "does not like it" in faults[0]
    bad = faults[0].split(" on ")[1].split(":")[0]
    assert bad not in {row["image"] for row in rows(competition.folder) if "net" in (row["defender"], row["attacker"])}
    part = competition.store.parts()[0]
    scores = competition.store.scores(competition.entrants, part, "miou", 7)[part.images.index(bad)]
    assert np.isfinite(scores[0, 1])
    assert np.isnan(scores[2, :2]).all()
    assert competition.predict(QUIET, RunOptions(workers=1)) == faults, "what went wrong before is said again"
    source.with_name("calm").touch()
    assert competition.predict(QUIET, RunOptions(workers=1, retry_errors=True)) == []
    competition.compare(QUIET, RunOptions(workers=1))
    assert np.isfinite(competition.store.scores(competition.entrants, part, "miou", 7)[:, 2, 0]).all()


def test_a_folder_keeps_its_competition(tmp_path: Path) -> None:
    done = compete(tmp_path / "run")
    with pytest.raises(BadInput, match="another competition"):
        begin(read_contest({**to_plain(done.contest), "metric": "dice"}), done.folder)
    with pytest.raises(BadInput, match="another competition"):
        begin(read_contest({**to_plain(done.contest), "models": MODELS[::-1]}), done.folder)


def noise(folder: Path, images: int) -> str:
    """A folder of random pictures; its spec."""
    folder.mkdir()
    for number in range(images):
        pixels = np.random.default_rng(number).integers(256, size=(32, 32, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return f"folder:{folder}?images=.&masks=none"


def test_a_changed_pool_is_refused(tmp_path: Path) -> None:
    pool = noise(tmp_path / "pool", 4)
    competition = compete(tmp_path / "run", pool=pool, background=0)
    (tmp_path / "pool" / "0.png").write_bytes((tmp_path / "pool" / "1.png").read_bytes() + b" ")
    with pytest.raises(BadInput, match="images of the pool have changed"):
        begin(competition.contest, competition.folder)


def test_changed_class_tables_are_refused_and_new_ones_welcome(tmp_path: Path) -> None:
    words = tmp_path / "classes.yaml"
    names = "[ground, thing, thing, thing, thing, thing, {last}]"
    start = f"classes: [ground, thing]\nmodels:\n  cnn: {names}\n"
    asked = {"models": ["compact:cnn", "compact:transformer?classes=2"], "classes": str(words)}
    words.write_text(start.format(last="thing"))
    competition = compete(tmp_path / "run", **asked)
    words.write_text(start.format(last="ground"))
    with pytest.raises(BadInput, match="class file has changed for cnn"):
        begin(competition.contest, competition.folder)
    words.write_text(start.format(last="thing") + f"pool: {names.format(last='thing')}\n")
    assert begin(competition.contest, competition.folder).rank("masks", draws=10).names == ["cnn", "transformer"]


def test_unreadable_and_repeated_images_are_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    pool = noise(folder, 4)
    (folder / "copy.png").write_bytes((folder / "0.png").read_bytes())
    (folder / "broken.png").write_bytes((folder / "1.png").read_bytes()[:50])
    competition = compete(tmp_path / "run", pool=pool, background=0)
    status = {row["name"]: row["status"] for row in competition.store.index.to_pylist()}
    assert status == {"0": "ok", "1": "ok", "2": "ok", "3": "ok", "broken": "error", "copy": "duplicate"}
    with pytest.raises(BadInput, match="no selected image has masks"):
        competition.rank("masks")
