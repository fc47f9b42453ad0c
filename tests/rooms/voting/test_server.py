"""The web server: signed links, no way out of its folder, answers only after the disk has them."""

from __future__ import annotations

import errno
import socket
import threading
from pathlib import Path

import pytest
from sessions import MODELS, SECRET, make_session
from starlette.testclient import TestClient

from segstress.core import BadInput
from segstress.voting import connections, decision_log
from segstress.voting.server import link, make_app, make_server
from segstress.voting.trial_list import sign

KIM, LEE = (f"{name}/{sign(SECRET, name)}" for name in ("kim", "lee"))


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    return TestClient(make_app(make_session(tmp_path), ["testserver"]))


def first_trial(client: TestClient, person: str = KIM) -> str:
    return client.get(f"/{person}/trials.js").text.split('"trials": [{"id": "')[1].split('"')[0]


def test_the_page_and_its_parts_are_served_blind(client: TestClient) -> None:
    texts = [client.get(f"/{KIM}/{name}").text for name in ("", "app.js", "decision_log.js", "canvas.js", "style.css")]
    trial_list = client.get(f"/{KIM}/trials.js")
    texts.append(trial_list.text)
    name = trial_list.text.split('"image": "')[1].split('"')[0]
    texts.append(client.get(f"/{KIM}/pictures/{name}.js").text)
    assert all(texts)
    assert not any(model in text for text in texts for model in MODELS)
    assert "default-src 'self'" in trial_list.headers["content-security-policy"]


@pytest.mark.parametrize("person", ["kim/wrong", f"kim/{LEE.partition('/')[2]}", "../kim/x", f"Kim/{KIM[4:]}", "kim/é"])
@pytest.mark.parametrize("path", ["", "trials.js", "pictures/a.js"])
def test_without_a_signature_of_ones_own_there_is_nothing(client: TestClient, person: str, path: str) -> None:
    assert client.get("/").status_code == 404
    assert client.get(f"/{person}/{path}").status_code == 404


def test_a_link_is_signed(client: TestClient, tmp_path: Path) -> None:
    assert client.get(link(make_session(tmp_path), "kim")).status_code == 200
    with pytest.raises(BadInput, match="name"):
        link(make_session(tmp_path), "../kim")


@pytest.mark.parametrize(
    "path",
    ["..%2f..%2fetc%2fpasswd", "%2e%2e/decisions-choose.jsonl", "judge.json", "pictures/..%2f..%2fx.js", "session.py"],
)
def test_no_file_outside_the_page_is_served(client: TestClient, path: str) -> None:
    assert client.get(f"/{KIM}/{path}").status_code in (400, 404)


def test_decisions_are_on_the_disk_when_they_are_acknowledged(client: TestClient, tmp_path: Path) -> None:
    event = {"id": "a", "trial": first_trial(client), "choice": "left"}
    assert client.post(f"/{KIM}/decisions", json=event).json() == {"saved": "a"}
    assert '"id": "a"' in (tmp_path / "decisions-choose.jsonl").read_text()
    assert client.post("/kim/wrong/decisions", json=event).status_code == 404


def test_nobody_votes_or_undoes_as_somebody_else(client: TestClient, tmp_path: Path) -> None:
    event = {"id": "a", "trial": first_trial(client), "choice": "left"}
    assert client.post(f"/{LEE}/decisions", json=event).status_code == 400
    assert client.post(f"/{KIM}/decisions", json=event).status_code == 200
    client.post(f"/{LEE}/decisions", json={"id": "u", "undo": "a"})
    assert client.post(f"/{LEE}/decisions", json=event | {"rater": "kim"}).status_code == 400
    (row,) = make_session(tmp_path).current("kim")
    assert row["rater"] == "kim"


def test_a_second_window_is_told_that_its_answer_was_not_taken(client: TestClient) -> None:
    event = {"id": "a", "trial": first_trial(client), "choice": "left"}
    client.post(f"/{KIM}/decisions", json=event)
    answer = client.post(f"/{KIM}/decisions", json=event | {"id": "b"})
    assert (answer.status_code, "not taken" in answer.text) == (409, True)


def test_a_full_disk_asks_to_send_again(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    event = {"id": "a", "trial": first_trial(client), "choice": "left"}
    with monkeypatch.context() as patch:
        patch.setattr(decision_log.os, "fsync", full)
        assert client.post(f"/{KIM}/decisions", json=event).status_code == 503
    assert client.post(f"/{KIM}/decisions", json=event).json() == {"saved": "a"}


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:8577", 200), ("[::1]:8577", 200), ("localhost", 200), ("evil.example:8577", 404), ("", 404)],
)
def test_a_foreign_host_name_is_refused(client: TestClient, host: str, status: int) -> None:
    assert client.get(f"/{KIM}/", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    "body", ["{", "[]", "{}", '{"id": ""}', '{"id": "a", "x": 1}', "[" * 9000, '{"id": NaN}', '{"id": "\\ud800"}']
)
def test_strange_decisions_are_refused_in_one_line(client: TestClient, body: str) -> None:
    answer = client.post(f"/{KIM}/decisions", content=body)
    assert answer.status_code == 400
    assert "\n" not in answer.text


def test_a_flood_is_refused_unread(client: TestClient) -> None:
    assert client.post(f"/{KIM}/decisions", content="x" * 20_000).status_code == 413
    assert client.post(f"/{KIM}/decisions", content=(b"x" * 1000 for _ in range(100))).status_code == 413
    assert client.post("/kim/wrong/decisions", content="x" * 20_000).status_code == 404


@pytest.mark.parametrize("sent", [b"", b"GET /kim", b"POST / HTTP/1.1\r\nHost: localhost\r\n"])
def test_connections_on_which_nothing_whole_arrives_end(sent: bytes, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(connections.Brief, "patience", 0.2)
    server = make_server(make_app(make_session(tmp_path)))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        with socket.create_connection(listener.getsockname(), timeout=10) as caller:
            caller.sendall(sent)
            assert caller.recv(100) == b""
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
