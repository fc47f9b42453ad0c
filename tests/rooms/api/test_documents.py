"""The Python that documents show is run as it stands, with small stand-ins for what the reader has."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import segstress

ROOT = Path(__file__).parents[3]
STAND_INS = """
import torch
import segstress
model = segstress.load_model("compact:cnn-normal").network
images = torch.stack([sample.image for sample in segstress.load_data("shapes:test?count=4&size=32")])
labels = torch.stack([sample.labels for sample in segstress.load_data("shapes:test?count=4&size=32")])
dataset = torch.utils.data.TensorDataset(images, labels)
"""


def blocks(document: str, first: str = "", last: str = "") -> str:
    """The Python of a document, or of a part of it."""
    text = (ROOT / document).read_text()
    text = text[text.index(first) :] if first else text
    text = text[: text.index(last)] if last else text
    return "\n".join(re.findall("^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


README = blocks("README.md", "## In Python", "## What a robustness figure means")
PAGE = blocks("docs/python.md")


@pytest.mark.parametrize("code", [README, PAGE], ids=["README", "python.md"])
def test_code_runs_as_it_stands(code, tmp_path):
    run(STAND_INS + code, tmp_path)


ALONE = {page.stem: blocks(page.relative_to(ROOT).as_posix()) for page in sorted(ROOT.glob("docs/frameworks/*.md"))}


@pytest.mark.parametrize("page", [name for name, code in ALONE.items() if code])
def test_pages_of_frameworks_run_by_themselves(page, tmp_path):
    if page == "onnx":
        pytest.importorskip("onnx")
    run(ALONE[page], tmp_path)


@pytest.mark.parametrize("notebook", sorted(ROOT.glob("docs/notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run_from_top_to_bottom(notebook, tmp_path):
    """As a kernel would: all cells in one namespace; the last expression of a cell must show itself."""
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells), "outputs are not kept: they would grow old"
    run("\n".join("".join(cell["source"]) for cell in cells), tmp_path)


def test_what_extend_md_shows_is_an_attack_a_metric_and_a_dataset(tmp_path):
    page = (ROOT / "docs" / "extend.md").read_text()
    for code in re.findall("^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        (tmp_path / code.splitlines()[0].removeprefix("# ")).write_text(code)
    (command,) = re.findall("^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    script = f"from segstress.cli.main import main; main({[*shlex.split(command)[1:], '--workers', '1', '--json']!r})"
    (figures,) = json.loads(run(script, tmp_path))["runs"]
    assert (figures["data"], list(figures["perturbations"])) == ("stripes", ["nudge"])
    assert "dice" in figures["worst_case"]


def test_every_python_block_compiles():
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    compiled = [compile(blocks(page.relative_to(ROOT).as_posix()), page.name, "exec") for page in pages]
    assert len(compiled) > 20


def test_every_worked_example_has_its_output():
    """What a command printed is pasted by docs/write_examples.py; here only that none was left out or edited away."""
    text = (ROOT / "docs" / "examples.md").read_text()
    commands = re.findall(r"<!-- run: (.+?) -->\n```sh\n(.+?)\n```\n\n```text\n(.+?)\n```", text, re.DOTALL)
    assert len(commands) == text.count("<!-- run: ") >= 10
    assert all(asked == shown and output.strip() for asked, shown, output in commands)


def test_pictures_are_small():
    pictures = list((ROOT / "docs" / "pictures").glob("*.png"))
    assert pictures
    assert all(picture.stat().st_size <= 300_000 for picture in pictures)


def run(code, folder):
    """Run Python in a process of its own; what it prints."""
    (folder / "script.py").write_text(code)
    done = subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_names_every_function():
    shown = set(re.findall(r"segstress\.(\w+)\(", README))
    functions = {name for name in segstress.__all__ if name[0].islower()}
    assert shown == functions
