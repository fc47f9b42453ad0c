"""What was fixed before a run: a hash of every claim file, and when the runs were begun.

`python -m segstress.demo.lock` writes claims.lock anew; commit it before a run, and leave it alone afterwards.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..core.files import write

CLAIMS = Path(__file__).parent / "claims"
LOCK = CLAIMS / "claims.lock"
BEGUN = "begun.json"  # beside the runs
UNKNOWN = "unknown commit"


def hashes() -> dict[str, str]:
    """Return the hash of every claim file as it is now."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(CLAIMS.glob("*.py"))}


def lock() -> None:
    """Write down what claims are."""
    write(LOCK, (json.dumps(hashes(), indent=1) + "\n").encode())


def begin(folder: Path) -> None:
    """Note, once, by which commit, when and on which claims the runs of a folder are begun."""
    path = folder / BEGUN
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        note = {"commit": _head(), "time": now, "claims": hashes()}
        write(path, (json.dumps(note, indent=1) + "\n").encode())


def words(folder: Path) -> list[str]:
    """Say when the claims were locked, when the runs were begun, and which files changed between or since."""
    locked: dict[str, str] = json.loads(LOCK.read_text()) if LOCK.exists() else {}
    begun: dict[str, Any] = json.loads((folder / BEGUN).read_text()) if (folder / BEGUN).exists() else {}
    sentences = [f"claims.lock is of {_last_commit(LOCK)}; " + _start(begun)]
    for when, present in (("before the runs were begun", begun.get("claims", {})), ("by now", hashes())):
        changed = sorted(name for name in {*locked, *present} if present and locked.get(name) != present.get(name))
        if changed:
            sentences.append(f"Claims that differ from claims.lock {when}: {', '.join(changed)}.")
    return sentences


def _start(begun: dict[str, Any]) -> str:
    return (
        f"the runs were begun at {begun['time']} by {begun['commit']}." if begun else "when the runs began is unknown."
    )


def _head() -> str:
    """Return the last commit of the repository that claims.lock is of; unknown where another is around us."""
    if _last_commit(LOCK) == UNKNOWN:
        return UNKNOWN
    changed = _git(LOCK.parent, "status", "--porcelain", "--untracked-files=no")
    return _commit(LOCK.parent) + (" and what was not committed" if changed else "")


def _last_commit(path: Path) -> str:
    """Return the hash and time of the last commit of a file; unknown where no repository has one."""
    return _commit(path.parent, "--", path.name)


def _commit(folder: Path, *only: str) -> str:
    said = _git(folder, "log", "-1", "--format=%h (%cI)", *only)
    return f"commit {said}" if said else UNKNOWN


def _git(folder: Path, *words: str) -> str:
    """Return what git says of a folder; nothing where it is missing or fails."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    lock()
