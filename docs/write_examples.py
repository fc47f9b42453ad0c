"""Run the commands of docs/examples.md and paste what they print below them.

python docs/write_examples.py [WORDS]        # only the examples whose command holds WORDS

A command stands in a comment, `<!-- run: segstress ... -->`; the two blocks below it, the command and its output, are
written anew. All run one after the other in one temporary folder, so that later ones may use what earlier ones made.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("examples.md")
EXAMPLE = re.compile(
    r"(<!-- run: (?P<command>.+?) -->\n)(?:```sh\n.*?^```\n\n?)?(?:```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE
)
NOISE = re.compile(r"^(attacking|damaging|searching|indexing|predicting|comparing).*\n", re.MULTILINE)  # progress
MOST = 40  # lines of an output


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(EXAMPLE.sub(lambda found: written(found, Path(folder), wanted), PAGE.read_text()))


def written(found: re.Match[str], folder: Path, wanted: str) -> str:
    """Return an example with its output."""
    command = found["command"]
    if wanted not in command:
        return found[0]
    print(command, flush=True)  # noqa: T201
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
    output = "\n".join(line.rstrip() for line in lines[:MOST] + rest)
    return f"{found[1]}```sh\n{command}\n```\n\n```text\n{output}\n```\n"


if __name__ == "__main__":
    main()
