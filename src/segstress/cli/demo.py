"""The command `demo`: what segstress does, on models and images that come with it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from .bundles import EvaluationOptions
from .console import console
from .evaluation import attack_and_report
from .running import conclude

if TYPE_CHECKING:
    from ..reports.findings.page import Finding

# Rooms are imported inside the command: they bring torch, and `segstress --help` should not wait for it.
Full = Annotated[bool, Option("--full", help="Examine every claim of the papers with the battery strong; it resumes.")]
Store = Annotated[
    bool, Option("--store", help="With --full, in a checkout: keep the figures with the zoo and write docs/zoo.md.")
]
Images = Annotated[int, Option("--images", min=2, help="Test images that --full attacks; cost grows with them.")]


def demo(
    common: EvaluationOptions,
    full: Full = False,
    images: Images = 24,
    store: Store = False,
) -> None:
    """Attack the embedded models on embedded images, beside stored figures of a full run; nothing is downloaded.

    Example: segstress demo --full
    """
    from ..demo.demonstration import PLAN
    from ..demo.zoo import current
    from ..planning import read_plan

    if store and not full:
        raise typer.BadParameter("--store keeps the figures of a full run; give --full as well")
    if full:
        settled = ", ".join(sorted({*common.settings()} - {"plugins"}))
        if settled:
            raise typer.BadParameter(f"--full: the claims settle {settled}; leave out the options of these")
        _examine(common, images, store)
        return
    beside = [table.without(("training", "seed", "share", "cmiou_clean")) for table in current()]
    attack_and_report(read_plan(PLAN, common.settings()), common, beside, common.folder("demo"))


def _examine(common: EvaluationOptions, images: int, store: bool) -> None:
    """Carry out every run that is missing, then print the claims with their verdicts."""
    from ..demo import demonstration as demo
    from ..demo import zoo
    from .progress import watch

    folder = common.folder("demo-full")
    errors = demo.examine_claims(folder, images, common.options(), lambda name: watch(console, name))
    findings = demo.findings(folder)
    for finding in findings:
        console.print(f"{finding.claim}: {finding.answer.verdict}", style="bold")
        for check in finding.answer.checks:
            console.print(f"  {'yes' if check.holds else 'no'}: {check.asks} ({check.measured})")
    console.print(demo.HISTORY)
    page = demo.report(folder, findings)
    console.print(f"Findings: {page}", soft_wrap=True)
    result = {"folder": str(folder), "report": str(page), "findings": list(map(_plain, findings))}
    conclude(result, common.as_json, errors)
    if store:
        results, about = zoo.store(folder, findings, f"segstress demo --full --images {images}")
        console.print(f"Stored: {results} and {about}", soft_wrap=True)


def _plain(finding: Finding) -> dict[str, Any]:
    """Return a claim and its checks as data."""
    answer = finding.answer
    checks = list(map(asdict, answer.checks))
    return {"name": finding.name, "claim": finding.claim, "verdict": answer.verdict, "checks": checks}
