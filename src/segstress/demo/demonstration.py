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
    " runs are not in it. Every outcome is shown. Those who wrote the claims knew the answers of an earlier version,"
    " in which checks had been changed after answers were known. The matched trainings are new since then, and so"
    " are all images but the competition's; normal networks, cnn-pgd-at-50 and its twin without the grain are those"
    " of the earlier version. So claim 5, and claim 1's check of the grain, ask models that are known anew on new"
    " images; claims 4 and 8 compare with such models; claim 6 looks at the earlier pool again, with three models"
    " that are known and five that are new. A check says whether it asks the mean of three seeds, every one of them,"
    " or both; claim 6 and the check of the grain take one training each. Other seeds are not spoken for, and no"
    " check speaks of PIR-AT."
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
