"""Runs at addresses of object stores: what a command does there, another goes on with anywhere, byte for byte."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import fsspec
import pytest
from tests.conftest import net
from tests.objects import Objects  # noqa: F401 - registers objects://
from tests.tables import tables

from segstress.cli.addresses import folders_here
from segstress.core import BadInput, live
from segstress.core.live import LivePath
from segstress.evaluation import evaluate
from segstress.results.run import Run
from segstress.results.seal import read_seal
from segstress.runtime import Progress, RunOptions, addresses, leases, mirrored
from segstress.runtime.leases import Leases
from segstress.runtime.publishing import is_apart
from segstress.runtime.sharing import share

PLAN = {
    "models": [net("tiny")],
    "data": ["shapes:test?count=6&size=24"],
    "perturbations": ["pgd?steps=3"],
    "eps": "8/255",
    "numerics": {"batch_size": 1},
}
WORDS = ["attack", "--model", net("tiny"), "--data", "shapes:test?count=6&size=24", "--attack", "pgd?steps=3"]
WORDS += ["--eps", "8/255", "--workers", "1", "--shard-size", "1", "--batch-size", "1"]
ROOT = Path(__file__).parents[2]


class Number(NamedTuple):
    """A unit of which only the number matters."""

    number: int


def options(**others) -> RunOptions:
    return RunOptions(workers=1, shard_size=1, **others)


def assert_equal(address: str, folder: Path) -> None:
    """The run at an address is that of a folder; nothing else lies there."""
    with mirrored(address) as here:
        seal, reason = read_seal(Run(here))
        assert (seal, reason) == (read_seal(Run(folder))[0], "")
        assert not Run(here).damage
    assert names(address) == {str(path.relative_to(here)) for path in here.rglob("*") if path.is_file()} - {".lock"}


def names(address: str) -> set[str]:
    return set(LivePath(address).versions())


def assert_whole_shards(store: Path) -> None:
    """Every shard that counts, as far as the store holds it, has all its files."""
    for sums in store.glob("cells/*/sums-*.json"):
        plain = json.loads(sums.read_text())
        replaced = {stem for other in store.glob("cells/*/sums-*.json") for stem in _replaced(other)}
        if sums.stem.removeprefix("sums-") not in replaced:
            assert all((sums.parent / name).exists() for name in plain["files"]), sums


def _replaced(sums: Path) -> dict[str, str]:
    return json.loads(sums.read_text()).get("replaces", {})


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    evaluate(PLAN, folder, options())
    return folder


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch) -> Iterator[None]:
    """A cache of its own, an object store, and processes that are quick to see what others do."""
    (tmp_path / "objects").mkdir()
    monkeypatch.setenv("OBJECTS", str(tmp_path / "objects"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(addresses, "EVERY", 0.1)
    monkeypatch.setattr(leases, "REMOTE_POLL", 0.1)
    monkeypatch.setattr(live, "WAITS", (0.0, 0.0))
    yield
    fsspec.filesystem("memory").rm("/", recursive=True)


def process(address: str, cache: Path, part: str = "", pause: float = 0.0) -> subprocess.Popen:
    """A run in a process of its own, with a cache of its own; it rests before it writes a shard."""
    script = (
        "import time, tests.objects\n"
        "from segstress.runtime import RunOptions, Store, addresses, leases, mirrored\n"
        "add = Store.add\n"
        f"Store.add = lambda *shard: (time.sleep({pause}), add(*shard))\n"
        "leases.BEAT, leases.EXPIRY, leases.REMOTE_POLL, addresses.EVERY = 0.2, 4.0, 0.1, 0.05\n"
        "from segstress.evaluation import evaluate\n"
        f"with mirrored({address!r}) as folder:\n"
        f"    done = evaluate({PLAN!r}, folder, RunOptions(workers=1, shard_size=1, part={part!r}))\n"
        "print(done.left_to or 'sealed')"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )


def has_unit(store: Path, doer: subprocess.Popen) -> bool:
    """Whether a process has a unit in hand."""
    claims = [path for path in store.glob("leases/*.0") if not path.name.startswith("turn-")]
    with suppress(FileNotFoundError):
        return any(f"-{doer.pid}-" in path.read_text() for path in claims)
    return False


def wait_for(store: Path, pattern: str, least: int, *doers: subprocess.Popen) -> None:
    while len(list(store.glob(pattern))) < least:
        assert all(doer.poll() is None for doer in doers)
        time.sleep(0.01)


def test_a_command_runs_there_and_others_read_it_from_an_empty_cache(segstress, undisturbed, tmp_path, monkeypatch):
    assert segstress(*WORDS, "--out", "memory://bucket/mine").code == 0
    assert "report/index.html" in names("memory://bucket/mine")
    assert not {name for name in names("memory://bucket/mine") if is_apart(name)}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other-cache"))
    here, there = (json.loads(segstress("report", run, "--json").out) for run in (undisturbed, "memory://bucket/mine"))
    assert here["runs"][0]["seal"] == there["runs"][0]["seal"]
    assert_equal("memory://bucket/mine", undisturbed)


@pytest.mark.slow
def test_every_command_that_reads_a_run_reads_it_there(segstress, undisturbed):
    with mirrored("memory://bucket/mine") as folder:
        evaluate(PLAN, folder, options())
    for words in (
        ["report", "memory://bucket/mine", "memory://bucket/mine", "--out", "memory://bucket/page"],
        ["verify", "memory://bucket/mine", "--workers", "1"],
        ["check", "memory://bucket/mine", "--against", "memory://bucket/mine"],
        ["compact", "memory://bucket/mine"],
        ["export", "images", "memory://bucket/mine", "--out", "memory://bucket/images"],
        ["board", "memory://bucket/mine", "--out", "memory://bucket/site"],
        ["merge", "memory://bucket/mine", "--out", "memory://bucket/whole"],
    ):
        said = segstress(*words)
        assert said.code == 0, (words, said)
    assert {"images.csv"} < names("memory://bucket/images")
    assert {"index.html"} < names("memory://bucket/site")
    assert {"index.html"} < names("memory://bucket/page")
    assert_equal("memory://bucket/whole", undisturbed)


def test_an_address_of_this_machine_is_its_folder(tmp_path):
    with folders_here({"out": Path(f"file://{tmp_path}/run")}) as given:
        assert given == {"out": tmp_path / "run"}


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("nosuch://bucket/x", r"segstress\[fsspec\]"),
        ("memory://", "expected the address of a run, such as s3://bucket/mine"),
        ("memory://bucket/file", "is a file; expected the address of a run"),
    ],
)
def test_what_is_no_address_of_a_run_is_one_line(segstress, address, line):
    fsspec.filesystem("memory").pipe("/bucket/file", b"")
    said = segstress(*WORDS, "--out", address)
    assert said.code == 2
    assert said.err.count("\n") == 1
    with pytest.raises(BadInput, match=line), mirrored(address):
        pass


@pytest.mark.parametrize(
    "words",
    [
        ["mad", "export", "mine", "--format", "labelme", "--to", "s3://bucket/to"],
        ["mad", "import", "mine", "--format", "labelme", "--from", "s3://bucket/from"],
        ["mad", "judge", "mine", "--static", "s3://bucket/page"],
        ["mad", "judge", "mine", "--votes", "s3://bucket/votes.json"],
        ["train", "--data", "shapes:train", "--save-as", "s3://bucket/net.safetensors"],
        ["corrupt", "--data", "shapes:test", "--corruption", "fog", "--export", "s3://bucket/fog"],
        ["score", "--model", "compact:cnn-normal", "--data", "shapes:test", "--images", "s3://bucket/images"],
        ["init", "--model", "compact:cnn-normal", "--data", "shapes:test", "--out", "s3://bucket/plan.yaml"],
        ["run", "s3://bucket/plan.yaml", "--out", "memory://bucket/mine"],
    ],
)
def test_an_address_where_none_is_understood_is_one_line(segstress, tmp_path, words):
    said = segstress(*words)
    assert (said.code, said.err.count("\n")) == (2, 1), said
    assert "expected a file or folder of this machine, found the address s3://bucket/" in said.err
    assert not (tmp_path / "s3:").exists()


def test_an_interrupted_run_goes_on_from_an_empty_cache(undisturbed, tmp_path, monkeypatch):
    done = []

    def stop(*_) -> None:
        done.append(1)
        if len(done) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), mirrored("memory://bucket/mine") as folder:
        evaluate(PLAN, folder, options(), Progress(advance=stop))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other-cache"))
    asked = []
    with mirrored("memory://bucket/mine") as folder:
        evaluate(PLAN, folder, options(), Progress(advance=lambda *_: asked.append(1)))
    assert len(asked) == 2 * 6 - 4, "what was finished was computed again"
    assert_equal("memory://bucket/mine", undisturbed)


@pytest.mark.slow
def test_a_killed_run_goes_on_from_an_empty_cache(undisturbed, tmp_path):
    store = tmp_path / "objects" / "mine"
    doomed = process("objects://mine", tmp_path / "first", pause=0.2)
    wait_for(store, "cells/*/sums-*.json", 4, doomed)
    doomed.send_signal(signal.SIGKILL)
    doomed.communicate()
    assert_whole_shards(store)
    assert list(store.glob("leases/alive-sole-*"))
    with pytest.raises(BadInput, match="in use by another segstress process"), mirrored("objects://mine") as folder:
        evaluate(PLAN, folder, options())
    again = process("objects://mine", tmp_path / "first")  # in the same cache it is known that the first is dead
    assert again.communicate(timeout=300)[0].strip() == "sealed"
    assert_equal("objects://mine", undisturbed)
    with mirrored("objects://mine") as folder:
        assert tables(folder) == tables(undisturbed)


def test_order_leaves_a_whole_run_at_every_moment(tmp_path):
    with mirrored("objects://mine") as folder:
        evaluate(PLAN, folder, options())
    diary = (tmp_path / "objects" / "diary").read_text().splitlines()
    first, last = (
        {line: place for place, line in order} for order in (reversed([*enumerate(diary)]), enumerate(diary))
    )
    store = tmp_path / "objects" / "mine"
    sums = list(store.glob("cells/*/sums-*.json"))
    for path in sums:
        cell = f"mine/cells/{path.parent.name}"
        for name in json.loads(path.read_text())["files"]:
            assert first[f"put {cell}/{name}"] < first[f"put {cell}/{path.name}"]
        for stem in _replaced(path):
            if f"put {cell}/sums-{stem}.json" in first:  # else it was joined before it was seen
                assert first[f"put {cell}/{path.name}"] < first[f"remove {cell}/sums-{stem}.json"]
        assert last[f"put {cell}/{path.name}"] < first[f"put {cell}/manifest.json"] < first["put mine/seal.json"]
    assert any(map(_replaced, sums)), "shards were to be joined"
    assert_whole_shards(store)
    more = {**PLAN, "perturbations": [*PLAN["perturbations"], "fgsm"]}
    with mirrored("objects://mine") as folder:
        evaluate(more, folder, options())
    later = (tmp_path / "objects" / "diary").read_text().splitlines()[len(diary) :]
    new = min(place for place, line in enumerate(later) if "fgsm" in line and "cell.json" not in line)
    assert later.index("remove mine/seal.json") < new


def test_parts_share_an_address_whatever_their_caches(undisturbed, tmp_path, monkeypatch):
    for number in (1, 2):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache-{number}"))
        with mirrored("memory://bucket/mine") as folder:
            done = evaluate(PLAN, folder, options(part=f"{number}/2"))
    assert not done.left_to
    assert_equal("memory://bucket/mine", undisturbed)


@pytest.mark.slow
def test_what_a_killed_part_had_in_hand_is_done_by_another(undisturbed, tmp_path):
    store = tmp_path / "objects" / "mine"
    doomed = process("objects://mine", tmp_path / "first", "1/2", pause=1.0)
    other = process("objects://mine", tmp_path / "second", "2/2", pause=0.2)
    while not (has_unit(store, doomed) and has_unit(store, other)):
        assert doomed.poll() is None
        assert other.poll() is None
        time.sleep(0.01)
    doomed.send_signal(signal.SIGKILL)
    assert other.communicate(timeout=300)[0].strip() == "sealed"
    doomed.communicate()
    assert_equal("objects://mine", undisturbed)


@pytest.mark.slow
def test_an_s3_server_on_this_machine(s3, segstress, undisturbed, tmp_path, monkeypatch):
    address = f"{s3}/mine"
    assert LivePath(f"{address}/leases/trial").creates_alone()
    for number in (1, 2):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache-{number}"))
        with mirrored(address) as folder:
            evaluate(PLAN, folder, options(part=f"{number}/2"))
    assert_equal(address, undisturbed)
    assert segstress("compact", address).code == 0
    assert_equal(address, undisturbed)
    assert len([name for name in names(address) if "sums-" in name]) == 2
    holder = Leases(LivePath(f"{address}/leases"), sole=True)
    with holder.beating(), pytest.raises(BadInput, match=holder.owner), mirrored(address) as folder:
        evaluate(PLAN, folder, options())
    said = segstress(*WORDS, "--out", "s3://nothing/mine")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "bucket does not exist" in said.err


@pytest.mark.slow
def test_a_run_on_an_s3_server_is_killed_and_goes_on_from_an_empty_cache(s3, undisturbed, tmp_path):
    address = f"{s3}/killed"
    doomed = process(address, tmp_path / "first", pause=2.0)  # the address follows every 5 s
    while sum("sums-" in name for name in names(address)) < 4:
        assert doomed.poll() is None
        time.sleep(0.05)
    doomed.send_signal(signal.SIGKILL)
    doomed.communicate()
    while (said := process(address, tmp_path / "second").communicate(timeout=300)[0].strip()) != "sealed":
        assert not said, "until the first counts as dead, the second is turned away"
    assert_equal(address, undisturbed)


def test_a_competition_and_a_training_go_on_there(segstress, tmp_path, monkeypatch):
    models = ["--model", "compact:cnn-normal", "--model", "compact:transformer-normal"]
    training = ["train", "--model", "compact:cnn?classes=7", "--data", "shapes:train?count=4&size=16", "--epochs", "1"]
    training += ["--batch-size", "4", "--out", "memory://bucket/train"]
    steps = [["index", "--pool", "shapes:test?count=4&size=32", *models, "--out", "memory://bucket/mad"]]
    steps += [[step, "memory://bucket/mad"] for step in ("predict", "compare")]
    commands = [["mad", *step, "--workers", "1"] for step in steps] + [["mad", "select", "memory://bucket/mad"]]
    for number, words in enumerate([*commands, training, training]):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache-{number}"))
        assert segstress(*words).code == 0, words
    assert "members.parquet" in names("memory://bucket/mad")
    assert {"last.safetensors", "state.safetensors"} < names("memory://bucket/train")
    monkeypatch.setenv("WORLD_SIZE", "2")
    said = segstress(*training)
    assert "segstress publish" in said.err
    assert said.code == 2


def test_whoever_is_alone_lets_nobody_in_and_is_forgotten_when_its_heart_stops(undisturbed, monkeypatch):
    holder = Leases(LivePath("memory://bucket/mine/leases"), sole=True)
    holder._beat()
    for part in ("", "1/2"):
        with pytest.raises(BadInput, match=holder.owner), mirrored("memory://bucket/mine") as folder:
            evaluate(PLAN, folder, options(part=part))
    heart = fsspec.filesystem("memory").store[f"/bucket/mine/leases/alive-{holder.owner}"]
    heart.modified = heart.created = heart.created - timedelta(seconds=2 * leases.EXPIRY)
    with mirrored("memory://bucket/mine") as folder:
        evaluate(PLAN, folder, options())
    assert_equal("memory://bucket/mine", undisturbed)


def test_parts_keep_whoever_would_be_alone_out():
    sharer = Leases(LivePath("memory://bucket/mine/leases"))
    with (
        sharer.beating(),
        pytest.raises(BadInput, match="in use by another"),
        mirrored("memory://bucket/mine") as folder,
    ):
        evaluate(PLAN, folder, options())
    assert names("memory://bucket/mine") == set()


def test_a_process_that_was_taken_for_dead_writes_no_more():
    def sleep(*_) -> None:
        addresses.mirror_of(folder)._leases._last -= 2 * leases.EXPIRY

    with pytest.raises(BadInput, match="no sign of life"), mirrored("memory://bucket/mine") as folder:
        evaluate(PLAN, folder, options(), Progress(advance=sleep))


def test_parts_are_refused_where_one_of_several_cannot_create_a_file(tmp_path):
    with pytest.raises(BadInput, match="--part: the file system of unsafe://mine"), mirrored("unsafe://mine") as folder:
        evaluate(PLAN, folder, options(part="1/2"))
    assert not LivePath(f"file://{tmp_path}/trial").creates_alone(), "fsspec looks first and writes then"
    assert LivePath("objects://trial").creates_alone()


def test_a_part_sees_at_once_what_another_has_done(monkeypatch):
    monkeypatch.setattr(addresses, "EVERY", 600.0)
    with (
        mirrored("memory://bucket/mine") as one,
        mirrored("memory://bucket/mine") as two,
        share(one, "1/2") as first,
        share(two, "2/2") as second,
    ):
        for process in (first, second):
            with process.turn():
                process.join("the same")
        for units in first.rounds("step", lambda: [] if (one / "shard").exists() else [Number(0)]):
            for unit in units:
                (one / "shard").write_text("")
                first.finish("step", unit)
        looks = []
        list(second.rounds("step", lambda: looks.append((two / "shard").exists()) or []))
    assert looks == [True]


def test_what_could_not_be_sent_is_kept_and_sent_later(undisturbed, tmp_path):
    broken = tmp_path / "objects" / "broken"

    def cut(*_) -> None:
        broken.touch()
        time.sleep(0.05)

    line = r"objects://mine.* cannot be reached: the cable is out; what is finished is kept in .*cache"
    with pytest.raises(BadInput, match=line), mirrored("objects://mine") as folder:
        evaluate(PLAN, folder, options(), Progress(advance=cut))
    kept = {path.relative_to(folder) for path in folder.glob("cells/*/sums-*")}
    there = {path.relative_to(tmp_path / "objects/mine") for path in (tmp_path / "objects/mine").glob("cells/*/sums-*")}
    assert kept > there
    broken.unlink()
    with mirrored("objects://mine") as again:
        (again / "report").mkdir()
        (again / "report" / "index.html").write_text("")
    assert "report/index.html" in names("objects://mine")
    assert there == {Path(name) for name in names("objects://mine") if "sums-" in name}, "a reader sent results"
    asked = []
    with mirrored("objects://mine") as again:
        evaluate(PLAN, again, options(), Progress(begin=lambda total, words="": asked.append(total)))
    assert again == folder
    assert_equal("objects://mine", undisturbed)


def test_a_run_that_waits_is_stopped_when_nothing_can_be_sent(tmp_path):
    def wait(folder: Path) -> None:
        (tmp_path / "objects" / "broken").touch()
        (folder / "new").write_text("")
        threading.Event().wait(60)
        pytest.fail("nobody interrupted it")

    with pytest.raises(BadInput, match="the cable is out"), mirrored("objects://mine") as folder:
        wait(folder)


def test_a_handler_of_a_library_is_left_as_it_is(monkeypatch):
    def install(number: int, handler: object) -> None:
        assert handler is not None, "which signal.signal refuses"

    monkeypatch.setattr(signal, "getsignal", lambda _: None)
    monkeypatch.setattr(signal, "signal", install)
    with mirrored("objects://mine") as folder:
        (folder / "note").write_text("")
    assert names("objects://mine") == {"note"}


def test_a_mirror_that_was_emptied_does_not_empty_the_address(undisturbed):
    with mirrored("objects://mine") as folder:
        (folder / "plan.yaml").write_text("x")
    with pytest.raises(BadInput, match="was emptied"), mirrored("objects://mine") as folder:
        (folder / "plan.yaml").unlink()
    assert names("objects://mine") == {"plan.yaml"}


def test_a_folder_that_cannot_be_read_is_not_gone_at_the_address(monkeypatch):
    def scan(path: str):
        if Path(path).name == "cells":
            raise OSError(errno.EIO, "Input/output error", str(path))
        return scandir(path)

    def fail(folder: Path) -> None:
        (folder / "cells").mkdir()
        (folder / "cells" / "shard").write_text("x")
        (folder / "plan.yaml").write_text("x")
        addresses.mirror_of(folder).push()
        with monkeypatch.context() as patch:
            patch.setattr(os, "scandir", scan)
            addresses.mirror_of(folder).push()

    scandir, line = os.scandir, "cells cannot be read: Input/output error"
    with pytest.raises(BadInput, match=line), mirrored("objects://mine") as folder:
        fail(folder)
    assert names("objects://mine") == {"plan.yaml", "cells/shard"}


def test_shards_joined_between_two_looks_go_after_the_joined_one_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(addresses, "EVERY", 600.0)
    looks, walk = [], os.walk

    def join(top: Path, **settings):
        looks.append(1)
        if len(looks) == 4:  # sums were looked for already, and their shards are next
            for name in ("images-new", "sums-new"):
                (folder / name).write_text("x")
            for name in ("sums-old", "images-old"):
                (folder / name).unlink()
        return walk(top, **settings)

    with mirrored("objects://mine") as folder:
        for name in ("images-old", "sums-old"):
            (folder / name).write_text("x")
        addresses.mirror_of(folder).push()
        monkeypatch.setattr(os, "walk", join)
        addresses.mirror_of(folder).push()
    diary = (tmp_path / "objects" / "diary").read_text().splitlines()
    assert diary.index("put mine/sums-new") < diary.index("remove mine/images-old")
    assert names("objects://mine") == {"images-new", "sums-new"}


def test_two_commands_at_once_have_mirrors_of_their_own():
    with mirrored("memory://bucket/mine") as first, mirrored("memory://bucket/mine") as second:
        assert first != second
        (first / "note").write_text("")
        (first / ".lock").write_text("")
    assert names("memory://bucket/mine") == {"note"}
    with mirrored("memory://bucket/mine") as first, mirrored("memory://bucket/mine") as second:
        assert (second / "note").exists()
        (first / "other").write_text("")
        (first / "note").unlink()
    assert names("memory://bucket/mine") == {"other"}
    with mirrored("memory://bucket/mine") as first, mirrored("memory://bucket/mine") as second:
        assert [path.name for path in second.iterdir()] == ["other"]
