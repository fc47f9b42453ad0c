"""What a full demonstration measured of the zoo, kept beside its weights, and the page that is written from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import nan
from pathlib import Path
from typing import Any

from ..core import BadInput
from ..core.files import write
from ..metrics.intervals import Interval
from ..models import fingerprint
from ..models import load as load_model
from ..models.checkpoint import read_card
from ..models.compact import ZOO, zoo
from ..reports.findings.page import Finding
from ..reports.kit.export import to_markdown
from ..reports.kit.table import Cell, Column, Rows, Table
from ..reports.study.assessment import Assessment, title
from .claims import Evidence
from .claims.runs import BATTERY, CLEAN, GRAINLESS, NO_GRAIN, share
from .demonstration import ABOUT, HISTORY
from .lock import words

RESULTS = ZOO / "results.json"
REMARKS = ZOO / "remarks.json"  # written by hand, of the runs that were begun at the time it names
PAGE = ZOO.parents[2] / "docs" / "zoo.md"  # of a checkout
CLEAN_FIGURES = ("accuracy", "cmiou")
ROBUST_FIGURES = ("accuracy", "accuracy_foreground", "cmiou", "nmiou")


def collect(folder: Path, findings: Sequence[Finding], command: str) -> dict[str, Any]:
    """Return the figures and findings of a finished run as plain data, with what is known of every model's training."""
    evidence = Evidence(folder)
    robust = {**evidence.assessments(BATTERY), **evidence.assessments(NO_GRAIN)}
    clean = {**evidence.assessments(CLEAN), **evidence.assessments(NO_GRAIN)}
    first, seen = (next(iter(assessments.values())) for assessments in (robust, clean))
    environment = json.loads((folder / BATTERY.name / "environment.json").read_text())
    lock = words(folder)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "versions": environment["versions"],
        "battery": first.study.battery,
        "threat": first.study.threat,
        "images": len(first.study.ids),
        "clean_images": len(seen.study.ids),
        "constant": {
            "clean": {figure: seen.constant(figure) for figure in CLEAN_FIGURES},
            "robust": {figure: first.constant(figure) for figure in ROBUST_FIGURES},
        },
        "commonest": first.commonest,
        "lock": lock,
        "remarks": remarks(lock),
        "models": {name: _model(name, clean.get(name), robust.get(name)) for name in zoo()},
        "findings": [
            {
                "claim": finding.claim,
                "verdict": finding.answer.verdict,
                "checks": [[check.holds, check.asks, check.measured] for check in finding.answer.checks],
            }
            for finding in findings
        ],
    }


def remarks(lock: Sequence[str]) -> list[str]:
    """Return what was written by hand of the runs that these sentences date; nothing of any others."""
    kept = json.loads(REMARKS.read_text())
    known: list[str] = kept["remarks"] if any(kept["begun"] in sentence for sentence in lock) else []
    return known


def _model(name: str, clean: Assessment | None, robust: Assessment | None) -> dict[str, Any]:
    card = read_card(zoo()[name])
    return {
        "fingerprint": _fingerprint(name),
        "training": card["command"],
        "seed": card["plan"]["seed"],
        "share": share(name),
        "without_grain": name in GRAINLESS,
        "clean_images": len(clean.study.ids) if clean else 0,
        "clean": {figure: _bounds(clean.clean_interval(figure)) for figure in CLEAN_FIGURES} if clean else {},
        "robust": {figure: _bounds(robust.worst_interval(figure)) for figure in ROBUST_FIGURES} if robust else {},
    }


def _fingerprint(name: str) -> str:
    """Hash the weights that are here."""
    return fingerprint(load_model(f"compact:{name}"), f"compact:{name}")


def _bounds(interval: Interval) -> list[float]:
    return [round(value, 5) for value in (interval.value, interval.low, interval.high)]


def store(folder: Path, findings: Sequence[Finding], command: str) -> tuple[Path, Path]:
    """Keep the figures in the package and write the page of the zoo; both paths."""
    if not PAGE.parent.is_dir():
        raise BadInput(f"--store keeps figures in a checkout of segstress: expected the folder {PAGE.parent}")
    results = collect(folder, findings, command)
    write(RESULTS, (json.dumps(results, indent=1) + "\n").encode())
    write(PAGE, document(results).encode())
    return RESULTS, PAGE


def stored() -> dict[str, Any]:
    """Return what is kept; empty where nothing is."""
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    return results


def current() -> list[Table]:
    """Return stored figures under the battery, marked as such, of models whose weights are still those measured."""
    results = stored()
    measured = {name: entry for name, entry in results.get("models", {}).items() if entry["robust"]}
    unchanged = {
        name: entry for name, entry in measured.items() if name in zoo() and entry["fingerprint"] == _fingerprint(name)
    }
    return [table(results, unchanged)] if unchanged else []


def table(results: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return one line for each model, and one for a model that looks at nothing."""
    columns = (
        Column("model", "Model"),
        Column("training", "Training"),
        Column("seed", "Seed", "count"),
        Column("share", "Adversarial images", "share"),
        *(Column(f"{figure}_clean", f"{title(figure)}, clean", "interval") for figure in CLEAN_FIGURES),
        *(
            Column(f"{figure}_robust", f"{title(figure)}, {results['battery']}", "interval")
            for figure in ROBUST_FIGURES
        ),
    )
    rows: Rows = tuple(
        (name, entry["training"], entry["seed"], entry["share"], *_cells(entry)) for name, entry in models.items()
    )
    constants = [value for state in ("clean", "robust") for value in results["constant"][state].values()]
    same = [Interval(*[value] * 3) for value in constants]
    rows += (("one class everywhere", "", nan, nan, *same),)
    note = (
        f"Stored figures of {results['date']}, not computed now: {results['command']}; battery {results['battery']}"
        f" at {results['threat']} on {results['images']} images, clean on {_clean_images(results)}, with 95 %"
        " intervals over images. Every attack figure is an upper bound on robustness. One class everywhere:"
        f" the commonest, {results['commonest']} over all pixels, and the commonest of the others over the foreground."
    )
    return Table("stored", f"Stored: the zoo under the battery {results['battery']}", columns, rows, note)


def _clean_images(results: Mapping[str, Any]) -> str:
    """Tell on how many clean images figures are, and which models have had another number."""
    usual = results["clean_images"]
    others = {name: entry["clean_images"] for name, entry in results["models"].items() if entry["clean"]}
    apart: dict[int, list[str]] = {}
    for name, number in others.items():
        if number != usual:
            apart.setdefault(number, []).append(name)
    words = [f"{', '.join(names)} on {number}" for number, names in apart.items()]
    return f"{usual} ({'; '.join(words)})" if words else str(usual)


def _cells(entry: Mapping[str, Any]) -> list[Cell]:
    unknown = [nan] * 3
    clean = [entry["clean"].get(figure, unknown) for figure in CLEAN_FIGURES]
    robust = [entry["robust"].get(figure, unknown) for figure in ROBUST_FIGURES]
    return [Interval(*bounds) for bounds in (*clean, *robust)]


def document(results: Mapping[str, Any]) -> str:
    """Return the page of the zoo in Markdown, from stored results alone."""
    made = table(results, results["models"])
    apart = [name for name, entry in results["models"].items() if entry["without_grain"]]
    lines = [
        "# The embedded zoo",
        "",
        "Small networks trained on `shapes` by the plans in `src/segstress/plans/train`; `make zoo` trains them all",
        "again. This page is written by `segstress demo --full --store`, from the run and from the models' cards;",
        "remarks on the run are written by hand, in `src/segstress/zoo/remarks.json`.",
        "",
        *ABOUT,
        "",
        f"{made.note} Shares in percent. Figures of {', '.join(apart)} are on images without the grain.",
        "",
        to_markdown(made),
        "## The papers' claims on these models, and one of ours",
        "",
        HISTORY,
        "",
        *(line for sentence in (*results["lock"], *results["remarks"]) for line in (sentence, "")),
    ]
    for number, finding in enumerate(results["findings"], start=1):
        lines += [f"### {number}. {finding['claim']}: {finding['verdict']}", ""]
        lines += [
            f"- {'Yes' if holds else 'No'}: {asks}. Found: {answer}." for holds, asks, answer in finding["checks"]
        ]
        lines.append("")
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    return "\n".join([*lines, f"Versions: {versions}.", ""])
