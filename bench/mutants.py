"""Plant bugs one by one in a copy of the tree, run the tests of their room, and print the share that turned one red.

Command: python bench/mutants.py [--only words] [--first 20] [--seconds 60]. The bugs are data, in mutants.yaml beside
this file; a test holds that each of them still applies. A bug whose tests were not done in time is not counted as
killed, nor is one whose tests are red without it: every set of tests is first run on the sound tree, once. Exit code 1
where less than 90 % were killed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

ROOT = Path(__file__).parents[1]
CODE = Path("src/segstress")
COPIED = ("src", "tests", "bench", "docs", "pyproject.toml", "README.md", "Makefile")
WANTED = 0.9  # share to be killed
RED = 1  # pytest's code where tests failed; every other one is an error of ours


@dataclass(frozen=True)
class Mutant:
    """A bug: a text that takes the place of another, and the tests that should notice."""

    about: str
    file: str
    old: str
    new: str
    tests: str  # paths below tests/, with spaces between them

    def plant(self, root: Path) -> str:
        """Write the bug into a tree, and return what stood in the file."""
        path = root / CODE / self.file
        sound = path.read_text()
        if sound.count(self.old) != 1:
            raise ValueError(f"{self.about}: expected one '{self.old}' in {self.file}, found {sound.count(self.old)}")
        path.write_text(sound.replace(self.old, self.new))
        return sound


def read_mutants() -> list[Mutant]:
    """Return the list of bugs."""
    return [Mutant(**plain) for plain in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())]


def red_before(mutants: Sequence[Mutant], root: Path, seconds: int) -> dict[str, str]:
    """Run every set of tests once on the sound tree; what is wrong with those that do not pass."""
    faults = {}
    for tests in dict.fromkeys(mutant.tests for mutant in mutants):
        try:
            code = run_tests(tests.split(), root, seconds)
        except subprocess.TimeoutExpired:
            faults[tests] = "too slow"
            continue
        if code:
            faults[tests] = "red before"
    return faults


def judge(mutant: Mutant, root: Path, seconds: int) -> str:
    """Say what became of a bug in a tree that is sound before and after: killed, survived, too slow or broken."""
    sound = mutant.plant(root)
    try:
        code = run_tests(mutant.tests.split(), root, seconds)
    except subprocess.TimeoutExpired:
        return "too slow"
    finally:
        (root / CODE / mutant.file).write_text(sound)
    return {RED: "killed", 0: "survived"}.get(code, "broken")


def run_tests(tests: Sequence[str], root: Path, seconds: int) -> int:
    """Run these tests on the code of that tree, up to the first that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", *(f"tests/{test}" for test in tests)]
    clean = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=root, env=clean, timeout=seconds, capture_output=True, check=False).returncode


def main() -> int:
    """Judge the bugs and print a line for each; 1 where too few were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="words that a bug's description or file must hold")
    parser.add_argument("--first", type=int, help="number of bugs, from the top of the list")
    parser.add_argument("--seconds", type=int, default=60, help="that the tests of one bug may take")
    given = parser.parse_args()
    wanted = [mutant for mutant in read_mutants() if given.only in f"{mutant.about} {mutant.file}"][: given.first]
    outcomes: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, root / name)
        faults = red_before(wanted, root, given.seconds)
        for mutant in wanted:
            outcome = faults.get(mutant.tests) or judge(mutant, root, given.seconds)
            outcomes[outcome] += 1
            print(f"{outcome:11}{mutant.about} ({mutant.file})", flush=True)
    share = outcomes["killed"] / max(len(wanted), 1)
    print(f"killed {outcomes['killed']} of {len(wanted)} ({share:.0%}); {dict(outcomes)}")
    return int(share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
