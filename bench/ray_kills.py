"""Kill workers, driver and raylet of a run on Ray at random moments: is anything lost, or computed twice?

    python bench/ray_kills.py --kills 10

A case is survived where the run, resumed if it had to be, gives the tables of an undisturbed one byte for byte. Beside
it stands the most answers that one case computed twice, and what may have been in flight.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))
from faults import figures

SEGSTRESS = (sys.executable, "-c", "from segstress.cli.main import main; main()")
SOUND = 1  # the highest exit code of a command that did its work: 1 = some images failed
WORKERS, DEPTH, SHARD = 2, 2, 1
COMMAND = (
    *("attack", "--model", "compact:cnn-normal", "--data", "shapes:test?count=16&size=32", "--attack", "pgd?steps=40"),
    *("--eps", "8/255", "--batch-size", "1", "--shard-size", str(SHARD), "--executor", "ray", "--out", "run"),
    *("--workers", str(WORKERS)),
)
ANSWERS = 32  # of 16 images under clean and pgd
VICTIMS = {"worker": "ray::Station", "raylet": "raylet/raylet", "driver": ""}


def descendants(process: int) -> list[int]:
    """Return the processes below one, those of Ray among them."""
    found, waiting = [], [process]
    while waiting:
        children = Path(f"/proc/{waiting[0]}/task/{waiting[0]}/children")
        below = [int(child) for child in children.read_text().split()] if children.exists() else []
        waiting = [*waiting[1:], *below]
        found += below
    return found


def is_victim(process: int, kind: str) -> bool:
    """Tell whether a process is of a kind, by its command line."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return False
    return VICTIMS[kind] in words.partition(" --")[0]


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Begin the run."""
    folder.mkdir(exist_ok=True)
    with (folder / "said.txt").open("ab") as said:
        return subprocess.Popen([*SEGSTRESS, *COMMAND], cwd=folder, stdout=said, stderr=said)


def answers(folder: Path) -> int:
    """Count the shards that are whole."""
    return len(list((folder / "run").glob("cells/*/sums-*.json")))


def kill(folder: Path, kind: str, chance: Random) -> tuple[bool, bool]:
    """Kill a victim after a random number of answers, then let the run end or resume it; survived, and resumed."""
    process, after = start(folder), chance.randrange(1, ANSWERS - 4)
    while answers(folder) < after and process.poll() is None:
        time.sleep(0.01)
    if process.poll() is not None:
        print(f"{kind}: ended before it was killed: {(folder / 'said.txt').read_text()[-300:]}", file=sys.stderr)
        return False, False
    victims = [process.pid] if kind == "driver" else [one for one in descendants(process.pid) if is_victim(one, kind)]
    resumed = False
    os.kill(chance.choice(victims), signal.SIGKILL)
    process.wait(600)
    if process.returncode > SOUND or not (folder / "run" / "seal.json").exists():  # Ray ends a driver without a raylet
        kept = {path: path.stat().st_mtime for path in (folder / "run").glob("cells/*/sums-*.json")}
        resumed = True
        again = start(folder)
        again.wait(600)
        changed = [path for path, written in kept.items() if path.exists() and path.stat().st_mtime > written]
        # what is gone was joined to larger ones; what was computed twice is counted below
        if again.returncode > SOUND or changed:
            print(f"{kind}: exit code {again.returncode}, {len(changed)} whole shards computed again", file=sys.stderr)
            return False, True
    return True, resumed


def twice(folder: Path) -> int:
    """Count answers beyond one of each image in each cell that were computed to the end."""
    path = folder / "run" / "timings.csv"
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    return len(lines) - len({line.rpartition(",")[0] for line in lines})


def main() -> None:
    """Print a line for each kind of victim."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10, help="of each kind")
    parser.add_argument("--only", default=",".join(VICTIMS), help="kinds, by commas")
    given = parser.parse_args()
    chance = Random(0)
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        start(whole).wait(600)
        expected = figures(whole)
        if not expected:
            raise SystemExit("the run does not come to its end here; is Ray installed?")
        print("| SIGKILL of | cases | survived | resumed | most computed twice | in flight |")
        print("|---|---:|---:|---:|---:|---:|", flush=True)
        for kind in given.only.split(","):
            outcomes = []
            for case in range(given.kills):
                folder = Path(place) / f"{kind}-{case}"
                survived, resumed = kill(folder, kind, chance)
                outcomes.append((survived and figures(folder) == expected, resumed, twice(folder)))
            survived, resumed = (sum(outcome[place] for outcome in outcomes) for place in (0, 1))
            most = max(outcome[2] for outcome in outcomes)
            row = (given.kills, survived, resumed, most, WORKERS * DEPTH * SHARD)
            print(f"| {kind} | {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
