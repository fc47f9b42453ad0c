"""The judge's server, killed while many people vote: what was acknowledged is there, once, and no one else's."""

from __future__ import annotations

import http.client
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("uvicorn")
ROOM = Path(__file__).parents[1] / "rooms" / "voting"
sys.path.insert(0, str(ROOM))  # for sessions.py
SERVER = """
import socket, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from sessions import make_session
from segstress.voting.server import make_app, make_server
listener = socket.create_server(("127.0.0.1", int(sys.argv[3])), backlog=200)
print(listener.getsockname()[1], flush=True)
make_server(make_app(make_session(Path(sys.argv[2]), images=20))).run([listener])
"""


class Judge:
    """The server as a process that is killed and begun again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, 0
        self.begin()

    def begin(self) -> None:
        words = [sys.executable, "-c", SERVER, str(ROOM), str(self.folder), str(self.port)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def ask(self, path: str, body: bytes | None = None) -> bytes:
        """Send a request until it is answered, as the page does."""
        for _ in range(600):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
                connection.request("POST" if body else "GET", path, body)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
                continue
            assert answer.status == 200, content
            return content
        raise TimeoutError("the server did not come back")


def vote(judge: Judge, rater: str, count: int, seconds: list[float]) -> None:
    from sessions import SECRET

    from segstress.voting.trial_list import sign

    home = f"/{rater}/{sign(SECRET, rater)}"
    script = judge.ask(f"{home}/trials.js").decode()
    trials = json.loads(script.removeprefix("segstress.deal(").removesuffix(");\n"))["trials"]
    for number, trial in enumerate(trials[:count]):
        event = {"id": f"{rater}-{number}", "trial": trial["id"], "choice": "left"}
        begun = time.perf_counter()
        judge.ask(f"{home}/decisions", json.dumps(event).encode())
        seconds.append(time.perf_counter() - begun)


@pytest.mark.parametrize(
    ("raters", "count", "kills"), [(6, 5, 1), pytest.param(50, 20, 3, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_what_is_acknowledged_survives_kills_and_is_there_once(
    raters: int, count: int, kills: int, tmp_path: Path
) -> None:
    judge, seconds, chance = Judge(tmp_path), [], random.Random(kills)
    names = [f"rater-{number}" for number in range(raters)]
    people = [threading.Thread(target=vote, args=(judge, name, count, seconds)) for name in names]
    for person in people:
        person.start()
    for kill in range(1, kills + 1):
        while len(seconds) < raters * count * kill / (kills + 1):
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.02))
        judge.kill()
        judge.begin()
    for person in people:
        person.join()
    judge.kill()
    lines = (tmp_path / "decisions-choose.jsonl").read_bytes().splitlines()
    rows = [json.loads(line) for line in lines if line]
    assert Counter(row["id"] for row in rows) == {f"{name}-{n}": 1 for name in names for n in range(count)}
    assert all(row["id"].startswith(f"{row['rater']}-") for row in rows)
    print(f"\n{len(rows)} votes, {kills} kills: p50 {np.median(seconds):.3f} s, p99 {np.quantile(seconds, 0.99):.3f} s")
