"""What a long job tells of itself."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from segstress.cli import progress
from segstress.evaluation import evaluate
from segstress.runtime import Progress, RunOptions


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


def test_a_run_counts_passes_and_says_what_they_are_for(tmp_path):
    seen = []
    heard = Progress(begin=lambda *words: seen.append(words), advance=lambda *words: seen.append(words))
    plan = {"models": ["compact:cnn-normal"], "data": ["shapes:test?count=3&size=24"], "eps": "8/255"}
    evaluate(plan | {"perturbations": ["pgd?steps=5", "fgsm"]}, tmp_path, RunOptions(workers=1), heard)
    (total, words), *steps = seen
    assert words == "9 answers (3 images x 3 perturbations)"
    assert all("worst case so far" in step[1] for step in steps)
    assert [step[1].partition(", worst case")[0] for step in steps] == [
        "cnn-normal, clean",
        "cnn-normal, pgd(steps=5) linf 8/255",
        "cnn-normal, fgsm linf 8/255",
    ]
    assert sum(step[0] for step in steps) == total
    assert steps[1][0] > steps[2][0] > steps[0][0]


def test_lines_name_what_runs(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    paper = io.StringIO()
    with progress.watch(Console(file=paper, width=100), "attacking") as watcher:
        watcher.begin(5000, "9 answers (3 images x 3 perturbations)")
        watcher.advance(40, "cnn, pgd 8/255")
    assert "attacking: 9 answers (3 images x 3 perturbations), at most 5,000 passes" in paper.getvalue()
    assert "40/5000 passes (cnn, pgd 8/255), about" in paper.getvalue()
