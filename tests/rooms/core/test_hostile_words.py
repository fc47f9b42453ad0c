"""Words and files that nobody should hand over: one clear line, with the place where it is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import net

from segstress.core import BadInput, files
from segstress.core.seeding import fold_seed
from segstress.core.shares import parse_share
from segstress.core.yaml_text import parse_yaml
from segstress.planning import read_plan
from segstress.reports.kit.export import to_csv
from segstress.reports.kit.table import Column, Table

BOMB = "a0: &a0 [1, 1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "line 6: expands to more than"),
        ("a: 1\nb: 2\na: 3\n", "line 3: the key 'a' stands twice, first in line 1"),
        ("a: 1\nb: !!python/object:os.system {}\n", "line 2: could not determine"),
        ("a: &a [*a]", "line 1: 'a' refers to itself"),
        ("a: " + "[" * 100, "inside each other"),
        ("a: 1\nb: \x00", "line 2: the character"),
        ("a: 2020-99-99", "not valid YAML"),
        ("a: " + "9" * 5000, "not valid YAML"),
    ],
)
def test_yaml_is_bounded_and_its_faults_have_a_line(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        parse_yaml(text, "plan")


def test_a_misspelt_key_has_its_line_and_the_right_one(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("models: [compact:cnn]\ndata: [shapes]\nbatery: quick\n")
    with pytest.raises(BadInput, match=r"line 3: unknown key 'batery'; did you mean 'battery'\?"):
        read_plan(path)


WRONG_ORDER = """
import torch, segstress
model, images, labels = torch.nn.Conv2d(3, 2, 1).eval(), torch.rand(1, 3, 8, 8), torch.zeros(1, 8, 8).long()
for given in ((model, images, labels, "pgd"), (images, labels, model, "pgd"), (3, model, images, labels)):
    try:
        segstress.attack(*given, eps="8/255")
    except segstress.core.BadInput as error:
        assert len(str(error).splitlines()) == 1
        print(error)
"""


def test_arguments_in_a_wrong_order_get_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", WRONG_ORDER], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("expected") == 3, done.stdout


def test_seeds_of_any_size() -> None:
    assert fold_seed(7) == 7
    assert -(2**63) <= fold_seed(10**40) < 2**63
    assert fold_seed(10**40) != fold_seed(10**40 + 1)


@pytest.mark.parametrize(("text", "share"), [("99%", 0.99), ("0.5", 0.5), (" 5 % ".replace(" %", "%"), 0.05)])
def test_shares_in_percent(text: str, share: float) -> None:
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "abc%", "nan", "101%", "-1"])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(BadInput, match="expected a share"):
        parse_share(text)


def test_no_cell_of_a_csv_file_is_a_formula() -> None:
    cells = ["=1+1", "+cmd|x", "-cmd", "@x", "-1.5", "+2e5", "-", "plain"]
    table = Table(name="x", title="x", columns=[Column("a", "a", "text")], rows=[(cell,) for cell in cells], note="")
    assert to_csv(table).splitlines()[1:] == ["'=1+1", "'+cmd|x", "'-cmd", "'@x", "-1.5", "+2e5", "-", "plain"]


def test_temporary_files_of_killed_runs_are_swept(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, own = (tmp_path / f".shard.parquet.{process}" for process in (dead.pid, os.getpid()))
    for path in (left, own):
        path.write_bytes(b"half")
    with files.alone(tmp_path):
        assert not left.exists()
        assert own.exists()


def test_a_secret_is_readable_to_its_owner_alone(tmp_path: Path) -> None:
    files.write(tmp_path / "judge.json", b"{}", mode=0o600)
    assert (tmp_path / "judge.json").stat().st_mode & 0o777 == 0o600


QUICK = ("--attack", "pgd?steps=1", "--eps", "8/255", "--workers", "1", "--out", "run")


@pytest.mark.parametrize(
    "words",
    [
        ("ensemble", net("tiny"), net("tiny"), "--data", "shapes:test?count=2&size=16", "--weights", "0:1:1e-9"),
        ("attack", "--model", "compact:cnn-normal?scale=nan", "--data", "shapes:test?count=2&size=16", *QUICK),
        ("attack", "--model", net("tiny"), "--data", "shapes:test?count=2&size=16", *QUICK, "--attack", ""),
        ("attack", "--model", net("tiny"), "--data", "shapes:test?count=2&size=16", *QUICK, "--attack", "[/b]"),
        ("attack", "--model", net("tiny"), "--data", "shapes:test?count=2&size=16", *QUICK, "--plugin", "\udcff.py"),
    ],
)
def test_strange_requests_are_refused_in_one_line(segstress, words: tuple[str, ...]) -> None:
    said = segstress(*words)
    assert said.code == 2
    assert "unexpected" not in said.err
    assert len([line for line in said.err.splitlines() if line.startswith("segstress:")]) == 1


@pytest.mark.parametrize(
    "output", ["z.round().long()", "z > 0", "[[z]]", "{}", "None", "z[0]", "exec('raise SystemExit(3)')"]
)
def test_strange_networks_are_refused_in_one_line(segstress, tmp_path: Path, output: str) -> None:
    source = (
        "from torch import nn\nclass Net(nn.Conv2d):\n    def forward(self, x):\n        z = super().forward(x)\n"
        f"        return {output}\ndef make():\n    return Net(3, 7, 1)\n"
    )
    (tmp_path / "strange.py").write_text(source)
    data = "shapes:test?count=2&size=16"
    said = segstress("attack", "--model", "factory:strange.py:make", "--data", data, *QUICK)
    assert said.code in (1, 2), said
    assert "unexpected" not in said.err + said.out
    assert "Traceback" not in said.err


def test_names_that_are_no_text_are_one_row_and_printed_literally(segstress, folder) -> None:
    root, spec = folder
    (root / "images" / "[").mkdir()
    (root / "images" / "[" / "b]\udcff.png").symlink_to(root / "nowhere")
    said = segstress("attack", "--model", net("tiny"), "--data", spec, *QUICK)
    assert said.code == 1, said
    assert "[/b]\\udcff" in said.out.replace("\n", "")
