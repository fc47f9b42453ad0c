"""What every command owes: an example, a version, silence when asked for, JSON where figures are printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import segstress as package
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


RUNS = {  # commands that run, and a key of what they print
    "attack": (("--attack", "fgsm", "--eps", "8/255"), "runs"),
    "minimal": (("--attack", "fmn-auto?steps=1"), "minimal"),
    "spatial": (("--corruption", "fog", "--severity", "1", "--patch", "8"), "scores"),
    "multi-attack": (("--box", "8", "--steps", "1", "--number", "1"), "scores"),
}


@pytest.mark.parametrize("command", RUNS)
def test_commands_that_run_print_their_result_as_json_and_all_else_elsewhere(segstress, command: str) -> None:
    options, key = RUNS[command]
    given = ("--model", "compact:cnn-normal", "--data", "shapes:test?count=1&size=16", "--workers", 1, "--json")
    said = segstress(command, *given, *options)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told[key]
    assert told["errors"] == []
    assert Path(told["report"]).is_file()
    assert "Report:" in said.err
    assert "Report:" in segstress(command, *given[:-1], *options).out, "the next command speaks again"


def test_train_and_rank_print_json_too(segstress) -> None:
    data = ("--data", "shapes:train?count=4&size=16", "--batch-size", 4)
    trained = json.loads(segstress("train", "--epochs", 1, *data, "--out", "trained", "--json").out)
    assert trained["card"]["epoch"] == 1
    pool = ("--pool", "shapes:pool?count=4&size=24&labelled=true", "--scale", "none")
    models = ("--model", "compact:cnn-normal", "--model", "compact:unet-normal")
    for words in (("index", *pool, *models, "--out", "mad"), ("predict", "mad"), ("compare", "mad")):
        assert segstress("mad", *words, "--workers", 1).code == 0
    assert json.loads(segstress("mad", "select", "mad", "--json").out)["members"]
    ranked = segstress("mad", "rank", "mad", "--draws", 10, "--json")
    assert set(json.loads(ranked.out)["models"]) == {"cnn-normal", "unet-normal"}


def test_shells_complete_names() -> None:
    words = {"_SEGSTRESS_COMPLETE": "complete_bash", "COMP_WORDS": "segstress att", "COMP_CWORD": "1"}
    script = Path(sys.executable).with_name("segstress")
    done = subprocess.run([script], env={**os.environ, **words}, capture_output=True, text=True)
    assert done.stdout.split() == ["attack"]
