"""Run the commands of docs/examples.md and paste what they print below them.

python docs/write_examples.py [WORDS]        # only the examples whose command holds WORDS
python docs/write_examples.py --check        # writes nothing; names the examples that say something else, leaves with 1

A command stands in a comment, `<!-- run: segstress ... -->`; the two blocks below it, the command and its output, are
written anew. All run one after the other in one temporary folder, so that later ones may use what earlier ones made.
Seals and times are those of one machine and are not compared; other figures may differ as far as rounding explains.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

PAGE = Path(__file__).with_name("examples.md")
EXAMPLE = re.compile(
    r"<!-- run: (?P<command>.+?) -->\n(?:```sh\n.*?^```\n\n?)?(?:```text\n(?P<output>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
NOISE = re.compile(r"^(attacking|damaging|searching|indexing|predicting|comparing).*\n", re.MULTILINE)  # progress
OWN = re.compile(r"\b[0-9a-f]{32}\b|\b[0-9.]+ (s|min|h)\b|[\u2500-\u257f]")  # seals, times; the lines of tables
MOST = 40  # lines of an output
NEAR = {"rel_tol": 0.02, "abs_tol": 0.05}  # what another processor's rounding may do to a figure


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="?", default="")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    page, changed = PAGE.read_text(), []
    with tempfile.TemporaryDirectory() as folder:
        for example in list(EXAMPLE.finditer(page)):
            command, before = example["command"], example["output"] or ""
            if asked.words in command:
                print(command, flush=True)  # noqa: T201
                output = printed(command, Path(folder))
                if first := difference(before, output):
                    changed.append(f"{command}: {first}")
                page = page.replace(example[0], block(command, output))
    if not asked.check:
        PAGE.write_text(page)
    elif changed:
        sys.exit("\n".join([*changed, "docs/examples.md is not current; run python docs/write_examples.py"]))


def printed(command: str, folder: Path) -> str:
    """Return what a command prints, without its progress."""
    done = subprocess.run(
        [Path(sys.executable).parent / "segstress", *shlex.split(command)[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )
    lines = NOISE.sub("", done.stdout).rstrip().splitlines()
    if done.returncode == 2 or not lines:
        sys.exit(f"{command}: exit code {done.returncode}: {done.stderr}")
    rest = [f"... ({len(lines) - MOST} more lines)"] if len(lines) > MOST else []
    return "".join(f"{line.rstrip()}\n" for line in lines[:MOST] + rest)


def block(command: str, output: str) -> str:
    """Return an example with its output, as it stands in the page."""
    return f"<!-- run: {command} -->\n```sh\n{command}\n```\n\n```text\n{output}```\n"


def difference(before: str, after: str) -> str:
    """Return the first word that differs and what it is now; nothing where both say the same."""
    words = (OWN.sub(" ", text).split() for text in (before, after))
    for old, new in zip_longest(*words, fillvalue="nothing"):
        if old != new and not _near(old, new):
            return f"'{old}' is now '{new}'"
    return ""


def _near(old: str, new: str) -> bool:
    figures = [re.fullmatch(r"([+-]?[0-9.]+)([%,;)\]]*)", word) for word in (old, new)]
    if not all(figures) or figures[0][2] != figures[1][2]:  # type: ignore[index]
        return False
    return math.isclose(*(float(figure[1].rstrip(".")) for figure in figures if figure), **NEAR)


if __name__ == "__main__":
    main()
