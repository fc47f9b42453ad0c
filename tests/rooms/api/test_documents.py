"""The Python that documents show is run as it stands, with small stand-ins for what the reader has."""

from __future__ import annotations

import itertools
import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml

import segstress
from segstress.cli.main import ANYWHERE, app

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


@pytest.mark.slow
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


EXAMPLES = runpy.run_path(str(ROOT / "docs" / "write_examples.py"))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("accuracy 10.84 %", "accuracy 10.85 %", ""),
        ("accuracy 10.84 %", "accuracy 12.00 %", "'10.84' is now '12.00'"),
        ("about 8 s,\n│ 4 s │", "about 2 s,\n│ 11 s │", ""),
        (f"Seal {'a' * 32}.", f"Seal {'b' * 32}.", ""),
        ("no warnings", "2 flags", "'no' is now '2'"),
        ("one line", "one line\nand another", "'nothing' is now 'and'"),
        ("┏━━┓ 3 images", "┏━━━━┓ 3 images", ""),
    ],
)
def test_an_example_that_prints_something_else_is_named(before, after, said):
    assert EXAMPLES["difference"](before, after) == said


@pytest.mark.slow
def test_the_worked_examples_still_print_what_is_pasted(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "write_examples.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr


def lines_of(page):
    """Return every segstress command in code blocks of a page, as it stands there."""
    text = (ROOT / page).read_text().replace("\\\n", " ")
    fenced = re.findall("^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    indented = re.findall(r"(?:^|\n)\n((?: {4}segstress .*\n)+)", text)
    lines = map(str.strip, "".join([*fenced, *indented]).splitlines())
    return [line for line in lines if line.startswith("segstress ")]


def commands_of(page):
    """Return the words of every segstress command of a page; what a shell does with them is left out."""
    for line in lines_of(page):
        words = shlex.split(line, comments=True)
        yield list(itertools.takewhile(lambda word: word not in ("|", ";", "&&", ">"), words))[1:]


PAGES = [page.relative_to(ROOT).as_posix() for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))]


@pytest.mark.parametrize("page", [page for page in PAGES if any(commands_of(page))])
def test_every_command_of_a_page_and_its_options_exist(page):
    for words in commands_of(page):
        command = typer.main.get_command(app)
        for word in words:
            if hasattr(command, "commands"):
                assert word in command.commands or word.startswith("-"), words
                command = command.commands.get(word, command)
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert given <= known | {*ANYWHERE, "--help", "--version"}, f"{words}: {given - known}"


def test_no_shell_reads_a_spec_as_a_pattern():
    """Nor `&` as the end of a command: zsh refuses a bare `shapes:train?count=8`."""
    helps = [
        text for path in ROOT.glob("src/segstress/cli/*.py") for text in re.findall("Example: (.*)", path.read_text())
    ]
    lines = [*helps, *itertools.chain.from_iterable(map(lines_of, PAGES))]
    bare = [re.sub(r"""'[^']*'|"[^"]*"|\s#.*""", "", line) for line in lines]
    assert len(bare) > 100
    assert not [line for line in bare if re.search(r"[?*]|\w&\w", line)]


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


def test_workflows_and_the_image_name_what_there_is():
    """They run elsewhere; here only that they can be read, and call targets and files of this project."""
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    workflows = [yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    steps = [step for workflow in workflows for job in workflow["jobs"].values() for step in job["steps"]]
    called = {word for step in steps for word in re.findall(r"make ([a-z0-9-]+)|'(test[a-z-]*)'", step.get("run", ""))}
    assert {first or second for first, second in called} >= {"docs", "lint", "test", "test-all"}
    assert {first or second for first, second in called} <= targets
    (kept,) = [step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")]
    assert f"site_dir: {kept}" in (ROOT / "mkdocs.yml").read_text()
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert copied
    assert all((ROOT / name).exists() for line in copied for name in line.split())
