"""Names that processes share: one holds each, and what a dead one held is taken over by one."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from segstress.core import BadInput
from segstress.runtime import leases
from segstress.runtime.leases import Leases, LeaseState
from segstress.runtime.sharing import PartNumber


@pytest.fixture
def pair(tmp_path):
    first, second = Leases(tmp_path / "leases"), Leases(tmp_path / "leases")
    with first.beating(), second.beating():
        yield first, second


def die(process: Leases) -> None:
    """Let a process's last sign of life be of long ago."""
    process._keep_beating = lambda: None
    heart = process.folder / f"alive-{process.owner}"
    before = heart.stat().st_mtime - 2 * leases.EXPIRY
    os.utime(heart, (before, before))


def test_one_holds_a_name_until_it_is_done(pair):
    first, second = pair
    assert first.claim("unit") is LeaseState.MINE
    assert second.claim("unit") is LeaseState.HELD
    first.finish("unit")
    assert second.claim("unit") is LeaseState.DONE
    assert second.done() == {"unit"}


def test_what_a_dead_process_held_is_taken_over_by_one(pair, tmp_path):
    first, _ = pair
    others = [Leases(tmp_path / "leases") for _ in range(8)]
    for other in others:
        other._beat()
    assert first.claim("unit") is LeaseState.MINE
    die(first)
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda process: process.claim("unit"), others))
    assert sorted(claim.value for claim in claims) == ["held"] * 7 + ["mine"]


def test_turns_are_taken_one_after_another(pair):
    order = []

    def work(process: Leases) -> None:
        for _ in range(5):
            with process.turn():
                order.append("begin")
                order.append("end")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, pair))
    assert order == ["begin", "end"] * 10


def test_whoever_leaves_last_clears_up(tmp_path):
    first, second = Leases(tmp_path / "leases"), Leases(tmp_path / "leases")
    with first.beating():
        with second.beating():
            assert first.others() == [second.owner]
            second.claim("unit")
        assert (tmp_path / "leases").exists()
    assert not (tmp_path / "leases").exists()


def test_a_process_that_slept_knows_it_before_and_after_its_next_sign_of_life(pair):
    first, second = pair
    first._last -= 2 * leases.EXPIRY
    assert first.lapsed
    first._beat()
    assert first.lapsed
    assert not second.lapsed


@pytest.mark.parametrize("fault", [BadInput("cannot be written"), OSError("stale handle")])
def test_a_heart_goes_on_after_a_moment_without_the_store(tmp_path, monkeypatch, fault):
    monkeypatch.setattr(leases, "BEAT", 0.001)
    process, beats, again = Leases(tmp_path / "leases"), [], threading.Event()

    def beat() -> None:
        beats.append(1)
        if len(beats) == 2:
            raise fault
        if len(beats) == 3:
            again.set()

    process._beat = beat
    with process.beating():
        assert again.wait(10)


def test_two_that_begin_while_the_last_clears_up_are_not_both_in_a_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "POLL", 0.001)
    last, *newcomers = (Leases(tmp_path / "leases") for _ in range(3))
    inside, most, unlink = [], [], Path.unlink

    def work(process: Leases) -> None:
        process._beat()
        with process.turn():
            inside.append(process)
            most.append(len(inside))
            time.sleep(0.1)
            inside.remove(process)

    threads = [threading.Thread(target=work, args=(process,)) for process in newcomers]

    def slowly(path: Path, missing_ok: bool = False) -> None:
        """Let one begin before the first turn is forgotten, and one after."""
        begins = path.name == "turn-0.done" and not threads[0].ident
        if begins:
            threads[0].start()
            time.sleep(0.05)
        unlink(path, missing_ok)
        if begins:
            threads[1].start()
            time.sleep(0.05)

    with last.beating():
        for _ in range(2):
            with last.turn():
                pass
        monkeypatch.setattr(Path, "unlink", slowly)
    for thread in threads:
        thread.join()
    assert most == [1, 1]


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "leases").write_text("")
    with (
        pytest.raises(BadInput, match=r"cannot write to .*leases: .*; make room"),
        Leases(tmp_path / "leases").beating(),
    ):
        pass


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "1/0", ""])
def test_a_part_that_is_none(text):
    with pytest.raises(BadInput, match="expected i/n with i from 1 to n"):
        PartNumber.read(text)
