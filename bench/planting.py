"""Bugs that nobody chose: an operator, a number or a word of the source turned into its like, drawn at random.

    python bench/planting.py [--each 20] [--seed 0] [--seconds 180] [--rooms attacks,metrics]

bench/mutants.yaml is written by hand, and tests were added for those that survived at first; these are the check of
that check. Each bug is judged by the tests of its room. One that survives may change nothing that can be seen (a chunk
size, a tolerance, a message), so the share is a lower bound; every survivor is printed with its line, to be looked at.
"""

from __future__ import annotations

import argparse
import io
import keyword
import random
import shutil
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from mutants import CODE, COPIED, ROOT, run_tests

ROOMS = {
    "attacks": "rooms/attacks contract/test_contract_losses.py contract/test_contract_targets.py",
    "metrics": "rooms/metrics contract/test_contract_metrics.py",
    "corruptions": "rooms/corruptions golden/test_corruptions.py contract/test_contract_corruptions.py",
    "competition": "rooms/competition contract/test_contract_concordances.py contract/test_contract_formats.py",
    "training": "rooms/training contract/test_contract_training.py",
}
PAIRS = [
    "<|<=",
    ">|>=",
    "==|!=",
    "+|-",
    "*|/",
    "+=|-=",
    "and|or",
    "True|False",
    "any|all",
    "min|max",
    "amin|amax",
    "argmin|argmax",
]
SWAPPED = [tuple(pair.split("|")) for pair in PAIRS]
LIKE = {"not": "", "//": "*", "|": "&", "&": "|", **dict(SWAPPED), **{late: early for early, late in SWAPPED}}
SILENT = ("raise ", "import ", "@", "class ", "def ", "assert ")  # lines that hold nothing worth turning


def bugs(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the number of a line, that line as it is, and as it is with a bug."""
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        number, start, end = token.start[0], token.start[1], token.end[1]
        if (like := turned(token)) is None or (line := lines[number - 1]).lstrip().startswith(SILENT):
            continue
        wrong = line[:start] + like + line[end:]
        if compiles("".join([*lines[: number - 1], wrong, *lines[number:]])):
            yield number, line, wrong


def turned(token: tokenize.TokenInfo) -> str | None:
    """Return what takes the place of a token; none where it is left alone."""
    if token.type == tokenize.NUMBER:
        return str(int(token.string) + 1) if token.string.isdigit() else f"{2 * float(token.string)!r}"
    if token.type == tokenize.OP or token.string in LIKE or keyword.iskeyword(token.string):
        return LIKE.get(token.string)
    return None


def compiles(text: str) -> bool:
    """Tell whether it is Python at all."""
    try:
        compile(text, "", "exec")
    except SyntaxError:
        return False
    return True


def draw(room: str, number: int, seed: int) -> list[tuple[Path, int, str, str]]:
    """Draw so many bugs of a room, the same for the same seed and source."""
    every = [(path, *bug) for path in sorted((ROOT / CODE / room).rglob("*.py")) for bug in bugs(path)]
    return random.Random(f"{seed} {room}").sample(every, min(number, len(every)))


def judge(root: Path, path: Path, number: int, wrong: str, tests: str, seconds: int) -> str:
    """Say what became of a bug; one that makes its tests hang has been noticed."""
    copy = root / path.relative_to(ROOT)
    sound = copy.read_text()
    lines = sound.splitlines(keepends=True)
    copy.write_text("".join([*lines[: number - 1], wrong, *lines[number:]]))
    try:
        code = run_tests(tests.split(), root, seconds)
    except subprocess.TimeoutExpired:
        return "killed"
    finally:
        copy.write_text(sound)
    return "killed" if code else "survived"


def main() -> None:
    """Judge the bugs of every room, and print the share of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=20, help="bugs of a room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=180, help="that the tests of one bug may take")
    parser.add_argument("--rooms", default=",".join(ROOMS))
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, root / name)
        for room in given.rooms.split(","):
            if run_tests(ROOMS[room].split(), root, 10 * given.seconds):
                sys.exit(f"the tests of {room} are red before anything is planted")
            outcomes: Counter[str] = Counter()
            for path, number, line, wrong in draw(room, given.each, given.seed):
                outcome = judge(root, path, number, wrong, ROOMS[room], given.seconds)
                outcomes[outcome] += 1
                print(f"{outcome:9}{path.relative_to(ROOT / CODE)}:{number}", flush=True)
                if outcome != "killed":
                    print(f"    - {line.strip()}\n    + {wrong.strip()}", flush=True)
            print(f"{room}: killed {outcomes['killed']} of {outcomes.total()}", flush=True)


if __name__ == "__main__":
    main()
