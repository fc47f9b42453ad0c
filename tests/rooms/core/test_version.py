"""One version number everywhere, and project files that are what they say."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

import segstress

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_one_version_number_everywhere() -> None:
    declared = segstress.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/segstress/__init__.py"
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == declared
    assert version("segstress") == declared, "make install brings the package's metadata up to date"
    released = re.findall(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released[0] == declared
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    told = {found for page in pages for found in re.findall(r"\bsegstress[ -=](\d+\.\d+\.\d+)", page.read_text())}
    assert told <= set(released), "documents name no version that there never was"


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 80


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_that_there_are(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    steps = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    asked = [word for step in steps for word in re.findall(r"^make ([\w-]+)", step)]
    assert set(asked) <= targets
    assert steps


def test_every_workflow_is_there() -> None:
    assert {path.stem for path in WORKFLOWS} == {"docs", "lint", "release", "test"}
