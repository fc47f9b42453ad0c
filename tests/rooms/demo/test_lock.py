"""Claims are fixed before the first run, and the page says whether they were."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from segstress.demo import lock


@pytest.fixture
def claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A claim of its own, locked and committed."""
    folder = tmp_path / "claims"
    folder.mkdir()
    (folder / "one.py").write_text("LIMIT = 1\n")
    monkeypatch.setattr(lock, "CLAIMS", folder)
    monkeypatch.setattr(lock, "LOCK", folder / "claims.lock")
    lock.lock()
    author = ("-c", "user.name=kim", "-c", "user.email=kim@example.org")
    for words in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "Lock")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def test_the_lock_holds_every_claim_as_it_is() -> None:
    assert json.loads(lock.LOCK.read_text()) == lock.hashes(), "run python -m segstress.demo.lock, and say why"
    assert "half.py" in lock.hashes()


def test_both_commits_and_times_are_told(claims: Path, tmp_path: Path) -> None:
    lock.begin(tmp_path / "runs")
    (said,) = lock.words(tmp_path / "runs")
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=claims, capture_output=True, text=True, check=True
    )
    begun = json.loads((tmp_path / "runs" / lock.BEGUN).read_text())
    assert f"claims.lock is of commit {head.stdout.strip()} (20" in said
    assert f"the runs were begun at {begun['time']} by {begun['commit']}." in said


def test_a_claim_that_changed_is_named_by_when_it_did(claims: Path, tmp_path: Path) -> None:
    lock.begin(tmp_path / "sound")
    (claims / "one.py").write_text("LIMIT = 2\n")
    lock.begin(tmp_path / "sound")
    lock.begin(tmp_path / "late")
    assert lock.words(tmp_path / "sound")[1:] == ["Claims that differ from claims.lock by now: one.py."]
    assert "before the runs were begun: one.py." in lock.words(tmp_path / "late")[1]


def test_runs_begun_with_changes_that_no_commit_holds_say_so(claims: Path, tmp_path: Path) -> None:
    lock.begin(tmp_path / "clean")
    (claims / "one.py").write_text("LIMIT = 2\n")
    lock.begin(tmp_path / "dirty")
    begun = [json.loads((tmp_path / name / lock.BEGUN).read_text())["commit"] for name in ("clean", "dirty")]
    assert begun[1] == f"{begun[0]} and what was not committed"


def test_a_repository_around_an_installed_package_is_not_taken_for_ours(claims: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "rm", "-q", "--cached", "claims.lock"], cwd=claims, check=True)
    author = ("-c", "user.name=kim", "-c", "user.email=kim@example.org")
    subprocess.run(["git", *author, "commit", "-q", "--amend", "-m", "A stranger's"], cwd=claims, check=True)
    lock.begin(tmp_path / "runs")
    assert json.loads((tmp_path / "runs" / lock.BEGUN).read_text())["commit"] == lock.UNKNOWN


def test_what_is_not_known_is_not_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "LOCK", tmp_path / "claims.lock")
    assert lock.words(tmp_path)[0] == "claims.lock is of unknown commit; when the runs began is unknown."
