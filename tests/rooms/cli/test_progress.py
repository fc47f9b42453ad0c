"""What a long job tells of itself."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from segstress.cli import progress


@pytest.mark.parametrize("terminal", [False, True])
def test_every_stage_of_a_job_counts_from_the_beginning(terminal, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    paper = io.StringIO()
    with progress.watch(Console(file=paper, force_terminal=terminal, width=100), "attacking") as watcher:
        for total in (4, 2):
            watcher.begin(total)
            watcher.advance(total)
    assert "2/2" in paper.getvalue()
    assert "6/2" not in paper.getvalue()
