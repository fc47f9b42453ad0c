"""A competition in one pass selects what the steps select, keeps nothing per image, and goes on after a stop."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from tests.rooms.competition.contests import MODELS, QUIET, compete, rows

from segstress.competition.select import ID_TYPE, Candidates, Rule
from segstress.competition.thresholds import any_size
from segstress.contests import stream as streaming
from segstress.contests import stream_work
from segstress.contests.compete import add, begin, reopen
from segstress.contests.competition import Competition
from segstress.contests.plan import read_contest
from segstress.contests.stream_total import StreamTotal
from segstress.core import BadInput
from segstress.runtime import Progress, RunOptions, read_table

ALONE = RunOptions(workers=1)


@pytest.fixture(autouse=True)
def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several units, blocks and folds of a small pool."""
    monkeypatch.setattr("segstress.data.dataset.STRETCH", 6)
    monkeypatch.setattr(stream_work, "UNIT", 12)
    monkeypatch.setattr(stream_work, "BLOCK", 5)
    monkeypatch.setattr(streaming, "FOLD", 2)


def started(folder: Path, **changes: Any) -> Competition:
    asked = {"models": MODELS, "pool": "shapes:pool?count=40&size=24&labelled=true", "scale": "none"} | changes
    return begin(read_contest(asked), folder, streamed=True)


def streamed(folder: Path, **changes: Any) -> tuple[Competition, StreamTotal, list[str]]:
    competition = started(folder, **changes)
    _, total, faults = competition.stream(QUIET, ALONE)
    return competition, total, faults


def assert_equal_selection(tmp_path: Path, **changes: Any) -> None:
    streamed(tmp_path / "stream", **changes)
    compete(tmp_path / "steps", **{"pool": "shapes:pool?count=40&size=24&labelled=true", **changes})
    assert rows(tmp_path / "stream") == rows(tmp_path / "steps")
    assert (tmp_path / "stream" / "empty.csv").read_bytes() == (tmp_path / "steps" / "empty.csv").read_bytes()


@pytest.mark.parametrize("metric", ["miou", "mpa", "class_iou"])
def test_one_pass_selects_what_the_steps_select(tmp_path: Path, metric: str) -> None:
    assert_equal_selection(tmp_path, metric=metric, rule={"chosen": 2, "fetched": 4})


def test_bounds_of_a_table(tmp_path: Path) -> None:
    classes = started(tmp_path / "look").vocabulary.classes
    (tmp_path / "scale.yaml").write_text(yaml.safe_dump({classes[1]: [0.0, 0.2]}))
    assert_equal_selection(tmp_path, scale=str(tmp_path / "scale.yaml"))


def test_quartiles_of_the_pool_take_a_first_pass_and_it_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    progress = Progress()
    progress.warn = said.append  # type: ignore[method-assign]
    started(tmp_path / "said", scale="pool").stream(progress, ALONE)
    assert said == [streaming.FIRST_PASS]
    assert_equal_selection(tmp_path, scale="pool")


@pytest.mark.slow
def test_two_thousand_images_select_alike(tmp_path: Path) -> None:
    assert_equal_selection(tmp_path, pool="shapes:pool?count=2000&size=16&labelled=true", scale="pool")


def test_later_steps_go_on_with_the_candidates(tmp_path: Path) -> None:
    _, total, _ = streamed(tmp_path, scale="pool")
    before = rows(tmp_path)
    index = read_table(tmp_path / "index.parquet")
    assert len(index) == len(total.rows)
    assert {row["image"] for row in before} <= set(index["image"].to_pylist())
    again = begin(read_contest(tmp_path), tmp_path)
    again.predict(QUIET, ALONE)
    again.compare(QUIET, ALONE)
    again.select()
    assert rows(tmp_path) == before
    assert reopen(tmp_path).rank("masks", draws=20).rankings
    assert not (tmp_path / "index").exists()


def test_a_stopped_stream_goes_on_and_ends_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, expected, _ = streamed(tmp_path / "whole")
    for stop in range(9):  # each write is stopped before once: totals of units and of the whole
        written, write = [0], streaming.write

        def stopping(path: Path, data: bytes, written=written, write=write, stop=stop) -> None:
            if written[0] == stop:
                raise KeyboardInterrupt
            written[0] += 1
            write(path, data)

        competition = started(tmp_path / f"stopped-{stop}")
        with monkeypatch.context() as patched:
            for module in (streaming, stream_work):  # the whole total, and those of units
                patched.setattr(module, "write", stopping)
            with suppress(KeyboardInterrupt):
                competition.stream(QUIET, ALONE)
        _, total, _ = competition.stream(QUIET, ALONE)
        assert total.counters == expected.counters == {"images": 40}
        assert np.array_equal(total.shares.tally, expected.shares.tally)
        assert rows(tmp_path / f"stopped-{stop}") == rows(tmp_path / "whole")
        assert len(list((tmp_path / f"stopped-{stop}" / "stream").iterdir())) == 1


def test_what_is_kept_does_not_grow_with_the_pool(tmp_path: Path) -> None:
    sizes = []
    for count in (40, 160):
        _, total, _ = streamed(tmp_path / str(count), pool=f"shapes:pool?count={count}&size=16", rule={"fetched": 2})
        assert len(total.rows) <= total.candidates.images.size
        sizes.append(len(total.to_bytes()))
    assert sizes[1] < 2 * sizes[0]


def test_copies_count_once_and_what_cannot_be_read_is_counted(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(14):
        pixels = np.random.default_rng(number % 9).integers(256, size=(16, 16, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(photos / f"{number:02}.png")
    (photos / "13.png").write_bytes(b"broken")
    asked = {"pool": f"folder:{photos}?images=.&masks=none", "rule": {"chosen": 3, "fetched": 9, "near": -1}}
    _, total, faults = streamed(tmp_path / "stream", **asked)
    compete(tmp_path / "steps", **asked)
    assert total.counters == {"images": 14, "unreadable": 1}
    assert len(faults) == 1
    assert "13" in faults[0]
    assert rows(tmp_path / "stream") == rows(tmp_path / "steps")
    assert {row["name"] for row in total.rows.values()} <= {f"{number:02}" for number in range(9)}


def test_candidates_joined_in_any_order_are_those_of_one_walk() -> None:
    draw = np.random.default_rng(0)
    ids = np.array([f"{number:016x}" for number in range(60)], dtype=ID_TYPE)
    shares = draw.random((60, 3, 4), dtype=np.float32)
    scores = np.round(draw.random((60, 3, 3), dtype=np.float32), 1)  # many are equal
    rule, bounds = Rule(fetched=7), any_size(3, 4)
    whole = Candidates(3, 4, rule)
    whole.add(ids, shares, scores, bounds)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(60)
        joined = Candidates(3, 4, rule)
        for part in (order[:5], order[5:30], order[20:], order[:9]):  # some twice
            some = Candidates(3, 4, rule)
            some.add(ids[part], shares[part], scores[part], bounds)
            joined.join(some)
        assert np.array_equal(joined.images, whole.images)
        assert np.array_equal(joined.scores, whole.scores)
        assert np.array_equal(joined.shares, whole.shares)


def test_a_streamed_folder_takes_no_other_number_of_models_by_selection(tmp_path: Path) -> None:
    streamed(tmp_path, scale="pool")
    more = begin(
        read_contest(
            {**yaml.safe_load((tmp_path / "contest.yaml").read_text()), "models": [*MODELS, "compact:cnn?seed=9"]}
        ),
        tmp_path,
    )
    with pytest.raises(BadInput, match="stream again with all 4"):
        more.select()
    with pytest.raises(BadInput, match="stream again with --metric mpa"):
        more.rank_by("mpa", "masks", 10, QUIET)
    more.stream(QUIET, ALONE)
    assert {row["defender"] for row in rows(tmp_path)} == set(more.names)


@pytest.mark.parametrize("scale", ["none", "pool"])
def test_a_later_model_among_the_candidates_is_approximate_and_says_so(tmp_path: Path, scale: str) -> None:
    before, _, _ = streamed(tmp_path, scale=scale, rule={"fetched": 3})
    kept = set(read_table(tmp_path / "index.parquet")["image"].to_pylist())
    assert {len(image) for image in kept} == {32}  # 128 bits
    more = add(tmp_path, ["compact:cnn?seed=9"])
    assert not before.caveat
    selection, faults = more.among_candidates(QUIET, ALONE)
    assert not faults
    assert f"only the {len(kept)} images" in more.caveat
    assert set(selection.images) <= kept
    assert {row["defender"] for row in rows(tmp_path)} == set(more.names)
    more.stream(QUIET, ALONE)  # exact: all models go through the pool again
    assert not more.caveat
    exact = rows(tmp_path)
    streamed(tmp_path / "anew", scale=scale, rule={"fetched": 3}, models=[*MODELS, "compact:cnn?seed=9"])
    assert rows(tmp_path / "anew") == exact


def test_candidates_are_asked_for_where_nothing_was_streamed(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="was not streamed"):
        compete(tmp_path).among_candidates(QUIET, ALONE)


def test_the_command_streams_shards_names_what_failed_and_resumes(tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    for shard in "ab":
        with tarfile.open(shards / f"{shard}.tar", "w") as archive:
            for number in range(4):
                buffer = io.BytesIO()
                draw = np.random.default_rng(10 * number + ord(shard))
                Image.fromarray(draw.integers(256, size=(16, 16, 3)).astype(np.uint8)).save(buffer, "png")
                data = buffer.getvalue() if (shard, number) != ("b", 3) else b"broken"
                info = tarfile.TarInfo(f"{number}.png")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    words = [
        "mad",
        "stream",
        "--pool",
        f"tar:{shards}",
        "--scale",
        "none",
        "--workers",
        "1",
        "--out",
        str(tmp_path / "mad"),
    ]
    command = [str(Path(sys.executable).parent / "segstress"), *words, *(w for m in MODELS[:2] for w in ("--model", m))]
    for _ in range(2):  # the second time nothing is left to do, and what failed is still said
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert "images: 8, unreadable: 1" in done.stdout
        assert "Traceback" not in done.stderr
    assert rows(tmp_path / "mad")
