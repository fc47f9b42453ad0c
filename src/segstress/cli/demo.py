"""The command `demo`: what segstress does, on models and images that come with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from . import options
from .console import console
from .evaluation import carry_out
from .spatial_run import show_errors

if TYPE_CHECKING:
    from ..jobs import Ways

# Jobs are imported inside the command: they bring torch, and `segstress --help` should not wait for it.
Full = Annotated[bool, Option("--full", help="Examine every claim of the papers; about 40 minutes on two cores.")]
Images = Annotated[int, Option("--images", min=2, help="Test images that --full attacks; cost grows with them.")]


def demo(
    full: Full = False,
    images: Images = 24,
    out: options.Out = None,
    workers: options.Workers = 0,
    limit: options.Limit = 12,
) -> None:
    """Attack the embedded models on embedded images and write a report; nothing is downloaded.

    Example: segstress demo --full
    """
    from ..jobs import Ways, read_plan
    from ..jobs.demo import PLAN

    if full:
        _examine(out or Path("runs/demo-full"), images, Ways(workers))
        return
    carry_out(read_plan({**PLAN, "limit": limit}), out or Path("runs/demo"), Ways(workers))


def _examine(folder: Path, images: int, ways: Ways) -> None:
    """Every run that is missing, then the claims with their verdicts."""
    from ..jobs import demo
    from .progress import watch

    errors = demo.carry_out(folder, images, ways, lambda name: watch(console, name))
    found = demo.findings(folder)
    for finding in found:
        console.print(f"[bold]{finding.claim}: {finding.answer.verdict}[/bold]", highlight=False)
        for check in finding.answer.checks:
            console.print(f"  {'yes' if check.holds else 'no'}: {check.asks} ({check.found})", highlight=False)
    console.print(f"Findings: {demo.report(folder, found)}", highlight=False, soft_wrap=True)
    show_errors(errors)
