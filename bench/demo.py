"""What `segstress demo` takes now beside an earlier commit: forwards and backwards of images, and CPU time.

Command: python bench/demo.py [--before REVISION] [--repeats 3]. Needs the history of the project. Both run in fresh
processes, in turn; CPU time is that of all their processes, its median counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

ROOT = Path(__file__).parents[1]
BEFORE = "787c921"  # the last commit before the report became a page to work with
LIMIT = 1.2
DEMO = "import sys; from segstress.cli.main import main; main(['demo'])"


def demo(source: Path, folder: Path) -> tuple[int, float]:
    """Run the demo of a checkout; return its passes and CPU seconds."""
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", DEMO], cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    tables = [
        pq.read_table(path, columns=["image", "forwards", "backwards"]) for path in folder.rglob("images-*.parquet")
    ]
    once = [table.group_by("image").aggregate([("forwards", "max"), ("backwards", "max")]) for table in tables]
    return sum(pc.sum(table[name]).as_py() for table in once for name in ("forwards_max", "backwards_max")), seconds


def main() -> None:
    """Print both and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default=BEFORE)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    measured: dict[str, list[tuple[int, float]]] = {"before": [], "now": []}
    with tempfile.TemporaryDirectory() as work:
        earlier = Path(work) / "earlier"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", "-q", earlier, options.before], check=True)
        try:
            for number in range(options.repeats):
                for name, source in (("before", earlier), ("now", ROOT)):
                    measured[name].append(demo(source, Path(work) / f"{name}-{number}"))
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", earlier], check=True)
    medians = {
        name: [statistics.median(values) for values in zip(*runs, strict=True)] for name, runs in measured.items()
    }
    for name, (passes, seconds) in medians.items():
        print(f"{name}: {passes:.0f} forwards and backwards, {seconds:.1f} s of CPU time")
    ratios = [now / before for now, before in zip(medians["now"], medians["before"], strict=True)]
    print(f"now over before: passes {ratios[0]:.2f}, CPU time {ratios[1]:.2f} (at most {LIMIT})")


if __name__ == "__main__":
    main()
