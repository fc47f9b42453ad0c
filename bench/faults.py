"""Kill, damage and fuzz small runs, and print a table: class of fault, cases, survived, silent.

    python bench/faults.py --kills 30 --flips 500

A case is survived where the run, resumed, gives the tables of an undisturbed one byte for byte (measured seconds left
out), or where the damage is named. It is silent where a figure changed and nothing said so.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
SEGSTRESS = (sys.executable, "-c", "from segstress.cli.main import main; main()")
MODEL, DATA = ("--model", "compact:cnn-normal"), ("--data", "shapes:test?count=6&size=32")
SMALL = ("--workers", "1", "--shard-size", "2", "--out", "run")
COMMANDS = {
    "attack": ("attack", *MODEL, *DATA, "--attack", "pgd?steps=4,segpgd?steps=4", "--eps", "8/255", *SMALL),
    "minimal": ("minimal", *MODEL, *DATA, "--attack", "ddn?steps=8", *SMALL),
    "spatial": ("spatial", *MODEL, *DATA, "--corruption", "snow", "--severity", "1,3", "--patch", "8", *SMALL),
    "mad": ("mad", "demo", "--count", "20", "--workers", "1", "--out", "run"),
    "train": (
        *("train", "cnn-normal", "--epochs", "2", "--batch-size", "8", "--out", "run"),
        *("--data", "shapes:train?count=16&size=32", "--validation", "shapes:val?count=4&size=32"),
    ),
}
SOUND = 1  # the highest exit code of a command that did its work: 1 = some images failed


def segstress(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    command = [*SEGSTRESS, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1200)


def figures(folder: Path) -> dict[str, bytes]:
    """Return all that a run reports: its tables, or the weights that it trained."""
    run = folder / "run"
    paths = [*run.rglob("*.csv"), *run.glob("*.safetensors")]
    return {str(path.relative_to(run)): _content(path) for path in paths if "timing" not in path.name}


def _content(path: Path) -> bytes:
    """Return a file's bytes; of a table all columns but measured seconds."""
    if path.suffix != ".csv":
        return path.read_bytes()
    rows = list(csv.reader(path.read_text().splitlines()))
    kept = [place for place, key in enumerate(rows[0] if rows else ()) if "seconds" not in key]
    return repr([[row[place] for place in kept] for row in rows]).encode()


def kills(name: str, count: int, chance: Random) -> tuple[int, int, int]:
    """Kill a command at random moments, resume it, compare with an undisturbed run: cases, survived, silent."""
    with TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        whole.mkdir()
        begun = time.monotonic()
        done = segstress(whole, *COMMANDS[name])
        seconds, expected = time.monotonic() - begun, figures(whole)
        if done.returncode > SOUND or not expected:
            raise SystemExit(f"{name} does not run here: {done.stderr or done.stdout}")
        outcomes = [
            _killed(Path(place) / str(case), name, chance.uniform(0, seconds), expected) for case in range(count)
        ]
    return count, outcomes.count("equal"), outcomes.count("silent")


def _killed(folder: Path, name: str, after: float, expected: dict[str, bytes]) -> str:
    folder.mkdir()
    process = subprocess.Popen(
        [*SEGSTRESS, *COMMANDS[name]],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
    return _judge(folder, segstress(folder, *COMMANDS[name]), expected)


def _judge(folder: Path, done: subprocess.CompletedProcess[str], expected: dict[str, bytes]) -> str:
    """Tell whether figures are equal, or wrong with a word about it, or wrong in silence."""
    if done.returncode <= SOUND and figures(folder) == expected:
        return "equal"
    return "said" if done.returncode else "silent"


def flip(path: Path, others: list[Path], chance: Random) -> None:
    """Turn one bit round."""
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def truncate(path: Path, others: list[Path], chance: Random) -> None:
    """Lose the end."""
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def delete(path: Path, others: list[Path], chance: Random) -> None:
    """Lose the file."""
    path.unlink()


def swap(path: Path, others: list[Path], chance: Random) -> None:
    """Put another shard's content in its place."""
    path.write_bytes(chance.choice([other for other in others if other.suffix == path.suffix]).read_bytes())


DAMAGES: dict[str, Callable[[Path, list[Path], Random], None]] = {
    "bit flip": flip,
    "truncation": truncate,
    "deletion": delete,
    "swap": swap,
}


def damages(count: int, chance: Random) -> Iterator[tuple[str, int, int, int]]:
    """Damage stored shards; report and verify must name it, or the figures must stay, and a resume must mend it."""
    with TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        whole.mkdir()
        segstress(whole, *COMMANDS["attack"])
        expected = figures(whole)
        for name, damage in DAMAGES.items():
            share = -(-count // len(DAMAGES))
            outcomes = [_damaged(Path(place) / "case", whole, damage, chance, expected) for _ in range(share)]
            yield f"{name} in a shard", share, share - outcomes.count("silent"), outcomes.count("silent")


def _damaged(folder: Path, whole: Path, damage: Callable[..., None], chance: Random, expected: dict[str, bytes]) -> str:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    shards = sorted(path for path in (folder / "run").rglob("*") if path.suffix in (".parquet", ".zst"))
    damage(chance.choice(shards), shards, chance)
    told = _judge(folder, segstress(folder, "report", "run"), expected)
    if told == "silent" and segstress(folder, "verify", "run").returncode:
        return "said"
    resumed = _judge(folder, segstress(folder, *COMMANDS["attack"]), expected)
    return "silent" if "silent" in (told, resumed) else "said"


def fuzzed(count: int) -> Iterator[tuple[str, int, int, int]]:
    """Run the cases of tests/fuzz; a case that raises anything but a clear line does not survive."""
    from tests.fuzz.corpus import KINDS, survives

    for kind in KINDS:
        survived = 0
        for seed in range(count):
            with TemporaryDirectory() as folder:
                try:
                    survives(kind, seed, Path(folder))
                    survived += 1
                except Exception as error:  # noqa: BLE001 - that is what is counted
                    print(f"{kind} {seed}: {type(error).__name__}: {error}", file=sys.stderr)
        yield f"hostile {kind}", count, survived, 0


def main() -> None:
    """Print the table, line by line as it is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="of each command")
    parser.add_argument("--flips", type=int, default=500, help="damages in all")
    parser.add_argument("--fuzz", type=int, default=260, help="cases of each kind")
    parser.add_argument("--only", default="", help="commands to kill, by commas; default all")
    given = parser.parse_args()
    chance = Random(0)
    print("| class of fault | cases | survived | silent |\n|---|---:|---:|---:|", flush=True)
    for name in given.only.split(",") if given.only else COMMANDS:
        if given.kills:
            row = kills(name, given.kills, chance)
            print(f"| SIGKILL of {name} | {' | '.join(map(str, row))} |", flush=True)
    for rows in (damages(given.flips, chance) if given.flips else (), fuzzed(given.fuzz)):
        for title, *row in rows:
            print(f"| {title} | {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
