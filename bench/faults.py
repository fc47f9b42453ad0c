"""Kill, damage and fuzz small runs, and print a table: class of fault, cases, survived, silent.

    python bench/faults.py --kills 30 --flips 500

Every command runs in a process of its own, forked from this one, which has imported all that commands need: kills fall
into the work and not into imports. A kill counts where it met the command alive. It is survived where the command,
resumed, gives the tables of an undisturbed run byte for byte (measured seconds left out). Damage is survived where
`report` gives the figures of before or names the fault, and, in shards, where a resume computes it again. A case is
silent where a figure changed and nothing said so.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import matplotlib.pyplot  # noqa: F401 - imported once, here, for all forks

import segstress.contests
import segstress.demo
import segstress.fitting
from segstress.cli.main import main as segstress
from segstress.evaluation import evaluate
from segstress.runtime import RunOptions

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
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
PLAN = {
    "models": ["compact:cnn-normal"],
    "data": ["shapes:test?count=6&size=32"],
    "perturbations": ["pgd?steps=4", "segpgd?steps=4"],
    "eps": "8/255",
    "numerics": {"batch_size": 2},
}
SOUND = 1  # the highest exit code of a command that did its work: 1 = some images failed
SHARDS = 0.8  # share of the damages that hit shards; the others hit what lies beside them
UNGUARDED = ("timings.csv", ".lock")  # what no figure is made of


def start(folder: Path, work: Callable[..., object], *words: str) -> BaseProcess:
    """Begin something in a fork whose words go to a file beside the run."""

    def child() -> None:
        os.chdir(folder)
        with Path("said").open("w") as said:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
        work(list(words)) if words else work()

    process = get_context("fork").Process(target=child)
    process.start()
    return process


def finish(folder: Path, work: Callable[..., object], *words: str) -> tuple[int, str]:
    """Do something to its end: exit code, and what it said."""
    process = start(folder, work, *words)
    process.join()
    said = (folder / "said").read_text()
    crashed = "Traceback" in said or "unexpected" in said
    return 99 if crashed else process.exitcode or 0, said


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


def kills(name: str, count: int) -> tuple[int, int, int]:
    """Kill a command at random moments, resume it, compare with an undisturbed run: cases, survived, silent."""
    chance = Random(name)
    with TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        whole.mkdir()
        begun = time.monotonic()
        code, said = finish(whole, segstress, *COMMANDS[name])
        seconds, expected = time.monotonic() - begun, figures(whole)
        if code > SOUND or not expected:
            raise SystemExit(f"{name} does not run here: {said}")
        outcomes = [_killed(Path(place) / "case", name, seconds, chance, expected) for _ in range(count)]
    return count, outcomes.count("equal"), outcomes.count("silent")


def _killed(folder: Path, name: str, seconds: float, chance: Random, expected: dict[str, bytes]) -> str:
    """Kill a command at a moment at which it still runs, and resume it."""
    killed = False
    while not killed:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        process = start(folder, segstress, *COMMANDS[name])
        process.join(chance.uniform(0, seconds))
        killed = process.is_alive()
        process.kill()
        process.join()
        seconds *= 0.8  # where it ended before the kill, the machine is quicker than it was
    code, said = finish(folder, segstress, *COMMANDS[name])
    if code <= SOUND and figures(folder) == expected:
        return "equal"
    print(f"{name}: exit code {code}: {said}", file=sys.stderr, flush=True)
    return "said" if code else "silent"


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
    """Exchange two files' contents, of one kind where there are several."""
    mine, kind = path.read_bytes(), path.name.partition("-")[0]
    differing = [other for other in others if other.read_bytes() != mine]
    other = chance.choice([other for other in differing if other.name.partition("-")[0] == kind] or differing)
    path.write_bytes(other.read_bytes())
    other.write_bytes(mine)


DAMAGES = (flip, truncate, delete, swap)


def damages(count: int, names: list[str]) -> Iterator[tuple[str, int, int, int]]:
    """Damage what is stored, in shards and beside them."""
    with TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        whole.mkdir()
        finish(whole, _attack)
        expected = finish(whole, segstress, "report", "run", "--json")
        for where, share in (("in a shard", SHARDS), ("beside the shards", 1 - SHARDS)):
            for damage in (damage for damage in DAMAGES if damage.__name__ in names):
                title, cases, sharded = (
                    f"{damage.__name__} {where}",
                    round(count * share / len(DAMAGES)),
                    where == "in a shard",
                )
                chance = Random(title)
                outcomes = [_damaged(Path(place), sharded, damage, chance, expected) for _ in range(cases)]
                silent, unmended = outcomes.count("silent"), outcomes.count("not mended")
                yield title, cases, cases - silent - unmended, silent


def _attack() -> None:
    evaluate(PLAN, "run", RunOptions(workers=1, shard_size=2))


def _damaged(place: Path, sharded: bool, damage: Callable[..., None], chance: Random, expected: tuple[int, str]) -> str:
    """Damage one file of a copy; tell whether a report notices, and whether a resume mends."""
    folder = place / "case"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(place / "whole", folder)
    stored = sorted(path for path in (folder / "run").rglob("*") if path.is_file() and path.name not in UNGUARDED)
    files = [path for path in stored if (path.suffix in (".parquet", ".zst")) == sharded]
    damaged = chance.choice(files)
    damage(damaged, files, chance)
    code, said = finish(folder, segstress, "report", "run", "--json")
    outcome = "equal" if (code, said) == expected else "said" if code in (1, 2) else "silent"
    if sharded and outcome != "silent":
        resumed = finish(folder, _attack)[0]
        mended = resumed == 0 and finish(folder, segstress, "report", "run", "--json") == expected
        outcome = outcome if mended else "not mended"
    if outcome in ("silent", "not mended"):
        print(f"{damage.__name__} {damaged}: {outcome}: {code} {said}", file=sys.stderr, flush=True)
    return outcome


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


NAMES = (*COMMANDS, *(damage.__name__ for damage in DAMAGES), "fuzz")


def main() -> None:
    """Print the table, line by line as it is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30, help="of each command")
    parser.add_argument("--flips", type=int, default=500, help="damages in all")
    parser.add_argument("--fuzz", type=int, default=260, help="cases of each kind")
    parser.add_argument("--only", default=",".join(NAMES), help=f"some, by commas, of {', '.join(NAMES)}")
    given = parser.parse_args()
    print("| class of fault | cases | survived | silent |\n|---|---:|---:|---:|", flush=True)
    names = given.only.split(",")
    for name in (name for name in COMMANDS if name in names):
        row = kills(name, given.kills)
        print(f"| SIGKILL of {name} | {' | '.join(map(str, row))} |", flush=True)
    for rows in (damages(given.flips, names), fuzzed(given.fuzz) if "fuzz" in names else ()):
        for title, *row in rows:
            print(f"| {title} | {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
