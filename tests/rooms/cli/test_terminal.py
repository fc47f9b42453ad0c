"""What every command owes: an example, a version, silence when asked for, JSON where figures are printed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from rich.table import Table

import segstress as package
from segstress.cli.console import console, show_grid
from segstress.cli.main import app

RUN = "import sys; from segstress.cli.main import main; main(sys.argv[1:])"


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Walk over all commands, those of groups too."""
    if not hasattr(command, "commands"):
        yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, (*path, name))


COMMANDS = dict.fromkeys(leaves(typer.main.get_command(app)))


def test_the_walk_sees_groups_too() -> None:
    assert {("attack",), ("mad", "rank"), ("export", "images"), ("models", "check")} <= set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_shows_an_example_of_this_very_command(segstress, words: tuple[str, ...]) -> None:
    said = segstress(*words, "--help")
    assert said.code == 0
    assert f"Example: segstress {' '.join(words)}" in " ".join(said.out.split())


def test_version_needs_no_torch() -> None:
    script = (
        f"{RUN.replace('main(sys.argv[1:])', '')}\ntry: main(['--version'])\nfinally: print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["segstress", package.__version__, "False"]


def test_quiet_prints_nothing_but_what_is_wrong(segstress) -> None:
    said = segstress("list", "batteries", "--quiet")
    assert (said.code, said.out) == (0, "")
    assert segstress("list", "batteries").out, "the next command speaks again"
    data = ("--data", "shapes:test?count=1&size=16")
    said = segstress("attack", "--model", "compact:cnn-normal", *data, "--attack", "fgsm", "--eps", "8/255", "--quiet")
    assert (said.code, said.out) == (0, "")
    assert Path("runs").exists()
    assert "unknown" in segstress("attack", "--model", "compct:x", *data, "--attack", "fgsm", "--quiet").err


def test_json_is_all_that_is_printed(segstress) -> None:
    assert json.loads(segstress("list", "batteries", "--json").out)["quick"]
    given = ("--model", "compact:cnn-normal", "--data", "shapes:test?count=1&size=16")
    costs = json.loads(segstress("plan", *given, "--attack", "fgsm", "--eps", "8/255", "--json").out)
    assert {"names", "images", "forwards", "backwards", "seconds"} <= set(costs[0])
    (diagnosis,) = json.loads(segstress("doctor", *given, "--quick", "--json").out)
    assert "flags" in diagnosis
    segstress("attack", *given, "--attack", "fgsm", "--eps", "8/255", "--out", "run", "--workers", 1)
    assert all(verdict["sound"] for verdict in json.loads(segstress("verify", "run", "--json").out))


GIVEN = ("--model", "compact:cnn-normal", "--data", "shapes:test?count=1&size=16")
ATTACK = ("--attack", "fgsm", "--eps", "8/255", "--workers", 1)
ENTRANTS = ("--model", "compact:cnn-normal", "--model", "compact:unet-normal")
POOL = ("--pool", "shapes:pool?count=4&size=24&labelled=true", "--scale", "none", *ENTRANTS)
MIXED = ("compact:cnn-normal", "compact:unet-normal", "--weights", "0,1", "--corruption", "fog", "--box", 8)
SEQUENCE = {  # every command that prints a result, in an order in which each has what it needs; a key of its result
    "list batteries": ("quick", ()),
    "init": ("plan", (*GIVEN, "--battery", "quick", "--eps", "8/255", "--out", "plan.yaml")),
    "plan": (0, (*GIVEN, *ATTACK)),
    "doctor": (0, (*GIVEN, "--quick")),
    "models check": ("classes", ("compact:cnn-normal", "--data", "shapes:test?count=1&size=16", "--images", 1)),
    "selftest": ("checks", ("--attack", "pgd", "--no-speed")),
    "attack": ("runs", (*GIVEN, *ATTACK, "--out", "run")),
    "run": ("runs", ("small.yaml", "--workers", 1, "--out", "planned")),
    "demo": ("runs", ("--limit", 1, "--workers", 1)),
    "minimal": ("minimal", (*GIVEN, "--attack", "fmn-auto?steps=1", "--workers", 1)),
    "spatial": ("scores", (*GIVEN, "--corruption", "fog", "--severity", 1, "--patch", 8, "--workers", 1)),
    "multi-attack": ("scores", (*GIVEN, "--box", 8, "--steps", 1, "--number", 1, "--workers", 1)),
    "ensemble": ("scores", (*MIXED, *GIVEN[2:], "--patch", 8, "--steps", 1, "--number", 1, "--workers", 1)),
    "corrupt": ("written", (*GIVEN[2:], "--corruption", "fog", "--export", "corrupted")),
    "export images": ("images", ("run", "--out", "images", "--format", "npy")),
    "score": ("runs", ("--images", "given", *GIVEN, "--eps", "8/255", "--workers", 1)),
    "report": ("runs", ("run",)),
    "verify": (0, ("run", "--workers", 1)),
    "check": ("passed", ("run", "--fail-under", "accuracy=0")),
    "board": ("page", ("run", "--out", "site")),
    "compact": (0, ("run",)),
    "publish": ("copied", ("run", "copied")),
    "merge": ("missing", ("run", "copied", "--out", "whole")),
    "train": ("card", ("--data", "shapes:train?count=4&size=16", "--batch-size", 4, "--epochs", 1, "--out", "trained")),
    "mad index": ("images", (*POOL, "--out", "mad", "--workers", 1)),
    "mad predict": ("folder", ("mad", "--workers", 1)),
    "mad compare": ("models", ("mad", "--workers", 1)),
    "mad select": ("members", ("mad",)),
    "mad export": ("images", ("mad", "--to", "sent", "--format", "png", "--prefill", "masks")),
    "mad import": ("taken", ("mad", "--from", "sent", "--format", "png")),
    "mad judge": ("trials", ("mad", "--static", "page", "--rater", "kim")),
    "mad rank": ("models", ("mad", "--draws", 10)),
    "mad correlate": ("mad and other", ("mad", "other")),
    "mad add": ("members", ("mad", "--model", "compact:transformer-normal", "--workers", 1)),
    "mad stream": ("counters", (*POOL, "--out", "streamed", "--workers", 1)),
    "mad demo": ("models", ("--count", 10, "--workers", 1)),
}
PROTOCOLS = {("reproduce",): "carries out what `run` does, of a paper"}
PLAIN = {("schema",): "prints JSON whatever is asked for"}


def test_every_command_that_prints_a_result_takes_json() -> None:
    """A new command is added to the sequence below, or says above why it is not."""
    listed = {tuple(words.split()[:2]) if words.split()[0] in GROUPS else (words.split()[0],) for words in SEQUENCE}
    assert listed | set(PROTOCOLS) | set(PLAIN) == set(COMMANDS)
    for path in set(COMMANDS) - set(PLAIN):
        assert "--json" in options_of(path), path


GROUPS = ("mad", "models", "export")


def options_of(path: tuple[str, ...]) -> set[str]:
    command: Any = typer.main.get_command(app)
    for name in path:
        command = command.commands[name]
    return {option for parameter in command.params for option in parameter.opts}


@pytest.mark.slow
def test_every_command_prints_one_document_and_all_else_elsewhere(segstress, tmp_path: Path) -> None:
    plan = {"models": [GIVEN[1]], "data": [GIVEN[3]], "perturbations": ["fgsm"], "eps": "8/255"}
    (tmp_path / "small.yaml").write_text(json.dumps(plan))
    (tmp_path / "given").mkdir()
    np.save(tmp_path / "given" / "test-00000.npy", np.zeros((16, 16, 3), np.float32))
    for command, (key, options) in SEQUENCE.items():
        if command == "mad correlate":
            shutil.copytree("mad", "other")
        said = segstress(*command.split(), *options, "--json")
        assert said.code in (0, 1), f"{command}: {said.err}"
        told = json.loads(said.out)
        assert key < len(told) if isinstance(key, int) else key in told, f"{command}: {told}"


def test_json_leaves_the_next_command_its_output(segstress) -> None:
    said = segstress("attack", *GIVEN, *ATTACK, "--json")
    assert json.loads(said.out)["errors"] == []
    assert Path(json.loads(said.out)["report"]).is_file()
    assert "Report:" in said.err
    assert "Report:" in segstress("attack", *GIVEN, *ATTACK).out


def test_steps_of_a_competition_print_json(segstress) -> None:
    for words in (("index", *POOL, "--out", "mad"), ("predict", "mad"), ("compare", "mad")):
        told = json.loads(segstress("mad", *words, "--workers", 1, "--json").out)
        assert told["folder"] == "mad"
        assert told["errors"] == []
    assert json.loads(segstress("mad", "select", "mad", "--json").out)["members"]
    ranked = segstress("mad", "rank", "mad", "--draws", 10, "--json")
    assert set(json.loads(ranked.out)["models"]) == {"cnn-normal", "unet-normal"}


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_tables_fit_and_cut_nothing(monkeypatch, capsys, width: int) -> None:
    long = "annealed-border(steps=20, first_step=0.5) linf 8/255"
    table = Table("model", "perturbation", *(f"figure {number}" for number in range(6)), title="Title")
    table.add_row("0.5-cnn-pgd-at-100+0.5-cnn-normal", long, *("12.34",) * 6)
    for name, value in (("width", width), ("stderr", False), ("quiet", False)):  # whatever the last command left
        monkeypatch.setattr(console, name, value)
    show_grid(table)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    text = "".join(lines)
    assert "…" not in text
    assert text.count("12.34") == 6
    letters = "".join(character for character in text if character.isalnum())
    for name in ("0.5-cnn-pgd-at-100+0.5-cnn-normal", long) if width in (40, 200) else ():
        assert "".join(character for character in name if character.isalnum()) in letters


def test_shells_complete_names() -> None:
    words = {"_SEGSTRESS_COMPLETE": "complete_bash", "COMP_WORDS": "segstress att", "COMP_CWORD": "1"}
    script = Path(sys.executable).with_name("segstress")
    done = subprocess.run([script], env={**os.environ, **words}, capture_output=True, text=True)
    assert done.stdout.split() == ["attack"]
