"""Every command that runs something has every option of a run, or this table says which it lacks, and why."""

from __future__ import annotations

from typing import Any

import pytest
import typer
from tests.rooms.cli.test_terminal import COMMANDS, options_of

from segstress.cli.main import app

PRINTS = frozenset({"--plugin", "--json"})  # every command
WORKS = frozenset({"--workers", "--executor", "--ray-address", "--gpus-per-worker"})
ROUNDS = frozenset({"--device", "--threads", "--dtype", "--batch-size", "--fold", "--channels-last"})
KEEPS = frozenset({"--part", "--shard-size", "--retry-errors", "--other-numerics", "--keep-images"})
RUN = PRINTS | WORKS | ROUNDS | KEEPS

ATTACKS_ONLY = "competitions and checks of a model have no attack whose search could differ from how it is judged"
ONE_ORDER = "only the worker of an evaluation changes the memory order"
NO_IMAGES = "nothing perturbs an image that could be kept"
LABEL_MAPS = {"--fold": ATTACKS_ONLY, "--channels-last": ONE_ORDER, "--keep-images": NO_IMAGES}
NO_MODEL = "no model looks at an image, so nothing rounds and no image fails"
COUNTS_ONLY = dict.fromkeys([*ROUNDS, "--retry-errors", "--other-numerics"], NO_MODEL)
AS_BEGUN = {"--shard-size": "shards are cut as they were when the competition was begun"}
ONE_PROCESS = {"--part": "ends with what one process alone may write"}
HERE = dict.fromkeys(WORKS, "a few images, in this process")
NOTHING_STAYS = dict.fromkeys(KEEPS, "leaves no run behind that could go on")

RUNNING = dict.fromkeys(
    ["attack", "run", "plan", "demo", "reproduce", "minimal", "spatial", "multi-attack", "ensemble", "score"], RUN
)
LACKING = {  # option: why, of every command that runs something and has not all options
    "mad index": {**LABEL_MAPS, "--retry-errors": "which images can be read decides how shards are cut, once"},
    "mad stream": {
        **LABEL_MAPS,
        "--retry-errors": "totals of shards are joined and cannot be taken apart again",
    },
    "mad predict": {**LABEL_MAPS, **AS_BEGUN},
    "mad compare": {**LABEL_MAPS, **AS_BEGUN, **COUNTS_ONLY},
    "mad rank": {**LABEL_MAPS, **AS_BEGUN, **COUNTS_ONLY, **ONE_PROCESS},
    "mad add": {**LABEL_MAPS, **AS_BEGUN, **ONE_PROCESS},
    "mad demo": {**LABEL_MAPS, **ONE_PROCESS},
    "doctor": HERE | NOTHING_STAYS,
    "models check": {
        **HERE,
        **NOTHING_STAYS,
        **LABEL_MAPS,
        "--batch-size": "images pass one at a time, which is timed",
    },
    "selftest": {
        **HERE,
        **NOTHING_STAYS,
        **dict.fromkeys(ROUNDS - {"--device"}, "compares these with each other by itself"),
    },
    "verify": dict.fromkeys([*ROUNDS, *KEEPS], "a run is judged as it was made, and left as it is"),
    "corrupt": {
        **HERE,
        **dict.fromkeys(ROUNDS | KEEPS, "writes images that no model has seen"),
    },
    "train": {
        **dict.fromkeys(["--fold", "--channels-last", "--dtype"], "a training plan has precision of its own: mixed"),
        **dict.fromkeys(KEEPS, "a training goes on from its last state, all of it"),
    },
}
ONLY_READING = {  # they look at what is there: nothing is computed that has a worker, rounds or fails image by image
    *("init", "report", "merge", "check", "board", "compact", "list", "export images"),
    *("mad select", "mad export", "mad import", "mad judge", "mad correlate"),
}
FIXED = {
    "publish": {"--json"},  # copies files, and looks up no name
    "schema": set[str](),  # prints JSON whatever is asked for, of what comes with the package
}


def test_every_command_stands_in_one_table() -> None:
    tables = [*RUNNING, *LACKING, *ONLY_READING, *FIXED]
    assert sorted(tables) == sorted(map(" ".join, COMMANDS))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_options_of_a_run_are_even(words: tuple[str, ...]) -> None:
    command = " ".join(words)
    wanted = set(RUN) if command in RUNNING else RUN - LACKING[command].keys() if command in LACKING else set(PRINTS)
    assert options_of(words) & RUN == FIXED.get(command, wanted)


def test_an_option_says_the_same_everywhere() -> None:
    """One name, one meaning: where a run has an option, its help is that of every other run."""
    helps: dict[str, dict[str, set[str]]] = {}
    for words in COMMANDS:
        command: Any = typer.main.get_command(app)
        for name in words:
            command = command.commands[name]
        for parameter in command.params:
            for option in RUN & set(parameter.opts):
                helps.setdefault(option, {}).setdefault(parameter.help, set()).add(" ".join(words))
    several = {option: by_help for option, by_help in helps.items() if len(by_help) > 1}
    assert several.pop("--batch-size", {}).keys() >= {"Images of a step, over all processes."}, "of a training"
    assert several == {}
