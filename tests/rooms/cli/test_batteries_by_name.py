"""`battery` is a list of perturbations: all are listed with their commands, and each command names the other."""

from __future__ import annotations

import json

import pytest
import typer

from segstress.cli.names import check_battery
from segstress.fitting.plan import training_plans
from segstress.planning.battery_files import batteries, local_batteries
from segstress.planning.papers import papers

GIVEN = ("--model", "compact:cnn-normal", "--data", "shapes:test?count=1&size=16")


def test_every_battery_is_listed_with_its_command(segstress) -> None:
    listed = json.loads(segstress("list", "batteries", "--json").out)
    assert set(listed) == {*batteries(), *local_batteries()}
    assert listed["strong"].startswith("attack: v")
    commands = {name: listed[name].partition(":")[0] for name in local_batteries()}
    assert commands["localized"] == commands["localized-shapes"] == "spatial"
    assert commands["multi-attack"] == "multi-attack"
    assert commands["ensemble"] == "ensemble"


@pytest.mark.parametrize("command", ["attack", "plan"])
def test_attack_says_whose_a_battery_of_localized_damage_is(segstress, command: str) -> None:
    said = segstress(command, *GIVEN, "--battery", "localized", "--eps", "8/255")
    assert said.code == 2
    assert said.err.strip().splitlines() == [
        "segstress: battery 'localized' is one of localized damage: segstress spatial --battery localized"
    ]


def test_spatial_says_whose_a_battery_of_attacks_is(segstress) -> None:
    said = segstress("spatial", *GIVEN, "--battery", "quick")
    assert said.code == 2
    assert "battery 'quick' is one of attacks: segstress attack --battery quick" in said.err
    assert "did you mean 'localized'?" in segstress("spatial", *GIVEN, "--battery", "localised").err


def test_nothing_else_passes_for_a_battery() -> None:
    for name in (*batteries(), *local_batteries(), "mine.yaml"):
        check_battery(name)
    others = [*training_plans(), *papers(), "voc-scale"]
    for name in others:
        with pytest.raises(typer.BadParameter, match=f"unknown battery '{name}'"):
            check_battery(name)


@pytest.mark.parametrize(
    ("command", "given", "named"),
    [
        (
            ("spatial", "--model", "compact:cnn-normal"),
            ("--severity", "1,3,5", "--positions"),
            "--severity, --positions",
        ),
        (
            ("multi-attack", "--model", "compact:cnn-normal"),
            ("--every-iterate", "--number", 3),
            "--every-iterate, --number",
        ),
        (
            ("ensemble", "compact:cnn-normal", "compact:transformer-normal"),
            ("--eps", "8/255", "--weights", "0:1:1"),
            "--eps",
        ),
    ],
)
def test_what_a_battery_says_is_not_asked_for_beside_it(segstress, command, given, named) -> None:
    said = segstress(*command, "--data", "shapes:test?count=1&size=16", "--battery", "ensemble-shapes", *given)
    assert said.code == 2
    assert said.err.strip().splitlines() == [
        f"segstress: Invalid value: {named}: --battery ensemble-shapes says so itself; leave these out, or the battery"
    ], "values that are the defaults are refused too, and nothing that a battery leaves open"


def test_a_battery_alone_is_carried_out(segstress, tmp_path) -> None:
    (tmp_path / "mine.yaml").write_text("corruptions: {names: [contrast], severities: [3], regions: [null]}\n")
    said = segstress("spatial", *GIVEN, "--battery", "mine.yaml", "--workers", 1, "--seed", 0, "--json")
    assert said.code == 0, said.err
    assert {row["perturbation"] for row in json.loads(said.out)["scores"]} == {"contrast"}
