"""The session and its decision log: decisions are durable, single and blind."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest
from sessions import MODELS, SECRET, make_session

from segstress.core import BadInput
from segstress.voting.decision_log import DecisionLog, NotSaved
from segstress.voting.session import Decision, encode
from segstress.voting.static import take_file, write_static
from segstress.voting.trial_list import sign


def decide(session, number: int, choice: str = "left", rater: str = "kim", **more: object) -> Decision:
    trial = session.trial_list(rater, server=True)["trials"][number]["id"]
    decision = Decision(id=f"{rater}-{number}", trial=trial, choice=choice, **more)
    session.take(rater, decision)
    return decision


def test_a_decision_says_what_it_was_about(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    decide(session, 3, milliseconds=1200)
    (row,) = session.decision_log.rows()
    trial = session.deal("kim").trials[3]
    assert (row["image"], tuple(row["shown"]), row["choice"], row["milliseconds"]) == (
        trial.image,
        trial.shown,
        "left",
        1200,
    )


def test_the_same_decision_twice_counts_once(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    decision = decide(session, 0)
    session.take("kim", decision)
    assert len(session.decision_log.rows()) == 1


def test_a_second_answer_is_refused_until_the_first_is_undone(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    first = decide(session, 0)
    second = Decision(id="other", trial=first.trial, choice="right")
    with pytest.raises(BadInput, match="already"):
        session.take("kim", second)
    session.take("kim", Decision(id="u", undo=first.id))
    session.take("kim", second)
    assert [row["choice"] for row in session.current("kim")] == ["right"]


def test_undo_removes_exactly_one_and_only_ones_own(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    for number in range(3):
        decide(session, number)
    decide(session, 0, rater="lee")
    session.take("kim", Decision(id="u1", undo="kim-2"))
    session.take("lee", Decision(id="u2", undo="kim-1"))
    assert [row["id"] for row in session.current("kim")] == ["kim-0", "kim-1"]
    assert len(session.current("lee")) == 1


@pytest.mark.parametrize(("trial", "choice"), [("nothing", "left"), (None, "best"), (None, "keep")])
def test_strange_decisions_are_refused(trial: str | None, choice: str, tmp_path: Path) -> None:
    session = make_session(tmp_path)
    known = session.deal("kim").trials[0].id
    with pytest.raises(BadInput, match=r"unknown trial|expected one of"):
        session.take("kim", Decision(id="a", trial=trial or known, choice=choice))


def test_what_was_taken_back_stays_so_when_it_comes_again(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    first = decide(session, 0)
    session.take("kim", Decision(id="u", undo=first.id))
    session.take("kim", first)
    session.decision_log.append(session.row("kim", first))
    assert session.current("kim") == []
    assert make_session(tmp_path).current("kim") == []


def test_an_undo_takes_back_nothing_of_another_person(tmp_path: Path) -> None:
    """Ids are made by browsers: two people's may be the same."""
    decision_log = DecisionLog(tmp_path / "l.jsonl")
    for rater in ("kim", "lee"):
        decision_log.append({"rater": rater, "id": "a"})
    decision_log.append({"rater": "kim", "undo": "a"})
    assert [row["rater"] for row in decision_log.current()] == ["lee"]


def test_a_short_write_is_written_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: short(handle, data[:5]))
    decision_log = DecisionLog(tmp_path / "l.jsonl")
    decision_log.append({"rater": "kim", "id": "a"})
    assert decision_log.path.read_text() == '{"rater": "kim", "id": "a"}\n'


def test_a_full_disk_leaves_nothing_of_a_vote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decision_log, whole = DecisionLog(tmp_path / "l.jsonl"), os.write
    decision_log.append({"rater": "kim", "id": "a"})
    before = decision_log.path.read_bytes()

    def full(handle: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(handle, data[:9])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(NotSaved, match="No space"):
            decision_log.append({"rater": "kim", "id": "b"})
    assert decision_log.path.read_bytes() == before
    decision_log.append({"rater": "kim", "id": "b"})
    assert [row["id"] for row in decision_log.rows()] == ["a", "b"]


def test_a_log_is_read_on_where_others_write(tmp_path: Path) -> None:
    here, there = DecisionLog(tmp_path / "l.jsonl"), DecisionLog(tmp_path / "l.jsonl")
    for number in range(3):
        there.append({"rater": "kim", "id": str(number)})
        assert len(here.rows()) == number + 1
    here.path.write_bytes(b'{"rater": "kim", "id": "new"}')  # without an end, as an editor may leave it
    assert [row["id"] for row in here.rows()] == ["new"]
    assert [row["id"] for row in here.rows()] == ["new"]


def test_a_line_cut_short_by_a_crash_is_left_out(tmp_path: Path) -> None:
    decision_log = DecisionLog(tmp_path / "l.jsonl")
    decision_log.append({"rater": "kim", "id": "a"})
    with decision_log.path.open("ab") as file:
        file.write(b'{"rater": "kim", "id": "b')
    decision_log.append({"rater": "kim", "id": "c"})
    assert [row["id"] for row in decision_log.rows()] == ["a", "c"]


def test_nothing_that_leaves_names_a_model(tmp_path: Path) -> None:
    session = make_session(tmp_path / "run", repeats=0.1)
    (tmp_path / "run").mkdir()
    decide(session, 0)
    out = tmp_path / "page"
    write_static(session, "kim", out)
    sent = json.dumps(session.trial_list("kim", server=True))
    everything = sent + "".join(path.read_text() + path.name for path in out.rglob("*") if path.is_file())
    assert not any(model in everything for model in MODELS)
    assert "repeat" not in sent


def test_static_decisions_come_back(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    write_static(session, "kim", tmp_path / "page")
    trials = [trial.id for trial in session.deal("kim").trials]
    events = [{"id": f"e{n}", "trial": trial, "choice": "tie"} for n, trial in enumerate(trials[:3])]
    events.append({"id": "u", "undo": "e2"})
    file = tmp_path / "decisions.json"
    content = {"mode": "choose", "rater": "kim", "signature": sign(SECRET, "kim"), "events": events}
    file.write_text(json.dumps(content | {"rater": "lee"}))
    with pytest.raises(BadInput, match="signature"):
        take_file(session, file)
    file.write_text(json.dumps(content))
    assert take_file(session, file) == 2
    assert take_file(session, file) == 0
    assert [row["id"] for row in session.current("kim")] == ["e0", "e1"]


@pytest.mark.parametrize("content", ["{", "[]", '{"mode": "screen", "rater": "kim", "events": []}'])
def test_strange_files_are_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "decisions.json"
    file.write_text(content)
    with pytest.raises(BadInput, match="decisions"):
        take_file(make_session(tmp_path), file)


def test_a_page_is_not_written_over_other_files(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(BadInput, match="not empty"):
        write_static(make_session(tmp_path), "kim", tmp_path)


def test_maps_travel_in_two_bytes() -> None:
    labels = np.array([[0, 255, 256, 65535]], dtype=np.uint16)
    pixels = encode(labels).astype(int)
    np.testing.assert_array_equal(pixels[..., 0] + 256 * pixels[..., 1], labels)
