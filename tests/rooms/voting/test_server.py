"""The web server: token, no way out of its folder, answers only after the disk has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import MODELS, make_session
from starlette.testclient import TestClient

from segstress.voting.server import make_app

TOKEN = "token-of-the-test"


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    return TestClient(make_app(make_session(tmp_path), TOKEN))


def test_the_page_and_its_parts_are_served_blind(client: TestClient) -> None:
    texts = [
        client.get(f"/{TOKEN}/{name}").text for name in ("", "app.js", "decision_log.js", "canvas.js", "style.css")
    ]
    trial_list = client.get(f"/{TOKEN}/trials.js?rater=kim")
    texts.append(trial_list.text)
    name = trial_list.text.split('"image": "')[1].split('"')[0]
    texts.append(client.get(f"/{TOKEN}/pictures/{name}.js").text)
    assert all(texts)
    assert not any(model in text for text in texts for model in MODELS)
    assert "default-src 'self'" in trial_list.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/trials.js?rater=kim", "/wrong/pictures/a.js"])
def test_without_the_token_there_is_nothing(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "path",
    ["..%2f..%2fetc%2fpasswd", "%2e%2e/decisions-choose.jsonl", "judge.json", "pictures/..%2f..%2fx.js", "session.py"],
)
def test_no_file_outside_the_page_is_served(client: TestClient, path: str) -> None:
    assert client.get(f"/{TOKEN}/{path}").status_code in (400, 404)


def test_a_name_that_is_a_path_is_refused(client: TestClient) -> None:
    assert client.get(f"/{TOKEN}/trials.js?rater=../../kim").status_code == 400
    assert client.get(f"/{TOKEN}/trials.js").status_code == 400


def test_decisions_are_on_the_disk_when_they_are_acknowledged(client: TestClient, tmp_path: Path) -> None:
    trial = client.get(f"/{TOKEN}/trials.js?rater=kim").text.split('"id": "')[1].split('"')[0]
    event = {"id": "a", "trial": trial, "choice": "left"}
    answer = client.post(f"/{TOKEN}/decisions", json={"rater": "kim", "event": event})
    assert answer.json() == {"saved": "a"}
    assert '"id": "a"' in (tmp_path / "decisions-choose.jsonl").read_text()
    assert client.post("/wrong/decisions", json={"rater": "kim", "event": event}).status_code == 404


@pytest.mark.parametrize(
    "body", ["{", "[]", "{}", '{"rater": "kim", "event": {"id": ""}}', '{"event": {"id": "a", "x": 1}}']
)
def test_strange_decisions_are_refused_in_one_line(client: TestClient, body: str) -> None:
    answer = client.post(f"/{TOKEN}/decisions", content=body)
    assert answer.status_code == 400
    assert "\n" not in answer.text


def test_a_flood_is_refused(client: TestClient) -> None:
    assert client.post(f"/{TOKEN}/decisions", content="x" * 20_000).status_code == 413
