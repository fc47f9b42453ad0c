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
    "claims.lock holds the hash of every claim file, with its checks and limits; plans of trainings, weights and"
    " runs are not in it. Every outcome is shown, and those of an earlier run stay where they were written down"
    " (docs/findings-first-run.md). Those who wrote the claims knew the answers of that run. Its checks and limits are"
    " kept but for these: claim 2 asks at 2/255 which attack is strongest, since nothing was left of normal networks at"
    " 4/255, and asks it of published attacks alone too; claims 4 and 8 take every search of a published table with its"
    " published steps, where there were three with half of them; claim 6 takes a competition for each of three seeds,"
    " on pools never used; the check of the grain takes three seeds, scene by scene; claim 10 is new. All models that"
    " checks speak of were trained anew, on seeds never used and in 1,000 steps instead of 500, and all images are new."
    " Single trainings stand in the table of the zoo alone. A check says whether it asks the mean of three seeds, every"
    " one of them, or both. Other seeds are not spoken for."
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
