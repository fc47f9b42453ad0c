"""The judge's server, killed while votes come in: every vote that was acknowledged is on the disk."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")
ROOM = Path(__file__).parents[1] / "rooms" / "voting"
SERVER = """
import socket, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from sessions import make_session
from segstress.voting.server import make_app
import uvicorn
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
app = make_app(make_session(Path(sys.argv[2]), images=200), "token")
uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listener])
"""


@pytest.mark.parametrize("seed", range(3))
def test_what_is_acknowledged_survives_a_kill(seed: int, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(ROOM), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    address = f"http://127.0.0.1:{int(process.stdout.readline())}/token"
    acknowledged: list[str] = []
    sent: list[str] = []

    def vote(rater: str) -> None:
        trial_list = urllib.request.urlopen(f"{address}/trials.js?rater={rater}").read().decode()
        trials = json.loads(trial_list.removeprefix("segstress.deal(").removesuffix(");\n"))["trials"]
        for number, trial in enumerate(trials):
            event = {"id": f"{rater}-{number}", "trial": trial["id"], "choice": "left"}
            sent.append(event["id"])
            body = json.dumps({"rater": rater, "event": event}).encode()
            try:
                urllib.request.urlopen(f"{address}/decisions", body).close()
            except OSError:
                return
            acknowledged.append(event["id"])

    people = [threading.Thread(target=vote, args=(name,)) for name in ("kim", "lee", "sam")]
    for person in people:
        person.start()
    while len(acknowledged) < 5:
        time.sleep(0.01)
    time.sleep(random.Random(seed).uniform(0, 0.2))
    process.send_signal(signal.SIGKILL)
    for person in people:
        person.join()
    process.wait()
    lines = (tmp_path / "decisions-choose.jsonl").read_bytes().split(b"\n")
    written = [json.loads(line)["id"] for line in lines[:-1]]
    assert set(acknowledged) <= set(written) <= set(sent)
    assert len(set(written)) == len(written)
    assert len(sent) < 3 * 600  # killed in the middle
