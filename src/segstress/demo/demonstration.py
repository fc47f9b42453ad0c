"""The embedded example: models and images that come with the package, quickly or with every claim examined."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ..reports.findings.page import Finding, write_findings
from ..runtime import Progress, RunOptions
from .claims import Evidence, Need, claims
from .lock import begin, words

PLAN: dict[str, Any] = {
    "models": ["compact:cnn-normal", "compact:cnn-pgd-at-100"],
    "data": ["shapes:test"],
    "battery": "quick",
    "eps": "8/255",
    "limit": 12,
}
ABOUT = (
    "Shapes is built to contain a non-robust feature, a grain below 8/255 that codes the class: these findings"
    " illustrate what the papers report on photographs, and do not prove it. They can show that a mechanism exists and"
    " that the tool sees it; they cannot show how large it is on photographs, nor which published model is better.",
    "Every attack figure is an upper bound on robustness. A claim is seen when all its checks hold; intervals are 95 %"
    " intervals over images.",
)
HISTORY = (
    "claims.lock holds the hash of every claim file: checks and limits, and the models, scenes and attacks of the"
    " runs. The number of images, plans of trainings, weights, and the code of attacks, figures and intervals are not"
    " in it. Every outcome that is known is shown; two earlier runs stay where they were written down"
    " (docs/findings-first-run.md, docs/findings-second-run.md). Those who locked the claims knew the answers of both."
    " Checks, limits and weights are those of the second run; scenes and pools are others, of which no result was"
    " known. From the first run they differ in this: claim 2 asks at 2/255 which attack is strongest, since nothing"
    " was left of normal networks at 4/255, and asks it of published attacks alone too; claims 4 and 8 take every"
    " search of a published table with its published steps, where there were three with half of them; claim 6 takes a"
    " competition for each of three seeds; the check of the grain takes three seeds, scene by scene; claim 10 is new;"
    " models that checks speak of have seeds 3 to 5, the matched ones 1,000 steps instead of 500. Single trainings"
    " stand in the table of the zoo alone. On the mean of three seeds, a check asks a 95 % interval over images; on"
    " each, the figure alone. But for the pairs of claim 6 nothing is corrected for the number of checks. Other seeds"
    " are not spoken for. In matched trainings PGD and SegPGD take steps of 0.02 from a random start, not the"
    " published 0.01 from the image itself; pir-at and clean-init-at have the published attack."
)

Watch = Callable[[str], AbstractContextManager[Progress]]


def needs() -> list[Need]:
    """Return every run that some claim rests on, each once."""
    wanted = [need for name in claims.names() for need in claims.get(name).needs]
    return list({need.name: need for need in wanted}.values())


def examine_claims(folder: Path, images: int, run_options: RunOptions, watch: Watch) -> tuple[str, ...]:
    """Do what is missing of every run; what went wrong."""
    begin(folder)
    errors: tuple[str, ...] = ()
    for need in needs():
        with watch(need.name) as progress:
            errors += need.carry_out(folder / need.name, images, run_options, progress)
    return errors


def findings(folder: Path) -> list[Finding]:
    """Return every claim beside what the finished runs in the folder say of it."""
    evidence = Evidence(folder)
    return [
        Finding(name, claims.about(name).rstrip("."), claims.build(name).answer(evidence)) for name in claims.names()
    ]


def report(folder: Path, findings: list[Finding]) -> Path:
    """Write the page of the findings with its tables and figures; its path."""
    pages = {need.name: f"../{need.name}/{need.page}" for need in needs()}
    return write_findings(
        findings, folder / "findings", (*ABOUT, HISTORY, *words(folder)), pages, "Findings in miniature"
    )
