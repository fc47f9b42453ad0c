"""The bugs that `make mutants` plants: each still fits the code, and names tests that exist."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


def planting() -> ModuleType:
    """The script, which is in no package."""
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "bench/mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module  # where its dataclass looks for itself
    spec.loader.exec_module(module)
    return module


MUTANTS = planting().read_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.about)
def test_a_planted_bug_still_applies(mutant) -> None:
    code = (ROOT / "src/segstress" / mutant.file).read_text()
    assert code.count(mutant.old) == 1
    assert mutant.new != mutant.old
    for test in mutant.tests.split():
        path, _, name = test.partition("::")
        found = ROOT / "tests" / path
        assert found.exists()
        assert not name or f"def {name.partition('[')[0]}(" in found.read_text()


def test_no_bug_is_in_the_list_twice() -> None:
    assert len({mutant.about for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)


def plant_tree(root: Path) -> Path:
    """Make a tree of one value and its test; its folder of code."""
    room = root / "src/segstress"
    room.mkdir(parents=True)
    (root / "tests").mkdir()
    (room / "code.py").write_text("VALUE = 1\n")
    (root / "tests/test_code.py").write_text(
        "from segstress.code import VALUE\n\ndef test_value():\n    assert VALUE == 1\n"
    )
    (room / "__init__.py").touch()
    return room


def test_a_bug_is_taken_out_again_and_one_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    mutants, room = planting(), plant_tree(tmp_path)
    said = [
        mutants.judge(mutants.Mutant("", "code.py", "1", new, "test_code.py"), tmp_path, 60)
        for new in ("2", "1  # one")
    ]
    assert said == ["killed", "survived"]
    assert (room / "code.py").read_text() == "VALUE = 1\n"
    with pytest.raises(ValueError, match=r"expected one 'VALE' in code\.py, found 0"):
        mutants.Mutant("slip", "code.py", "VALE", "", "").plant(tmp_path)


@pytest.mark.slow
def test_a_bug_whose_tests_are_red_without_it_is_not_killed(tmp_path: Path, monkeypatch, capsys) -> None:
    mutants = planting()
    plant_tree(tmp_path)
    (tmp_path / "tests/test_red.py").write_text("def test_red():\n    assert False\n")
    bugs = [mutants.Mutant(test, "code.py", "1", "2", test) for test in ("test_code.py", "test_red.py")]
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "COPIED", ("src", "tests"))
    monkeypatch.setattr(mutants, "read_mutants", lambda: bugs)
    monkeypatch.setattr(sys, "argv", ["mutants.py"])
    assert mutants.main() == 1, "half is too little"
    said = capsys.readouterr().out.splitlines()
    assert [line[:11].strip() for line in said[:2]] == ["killed", "red before"]
    assert said[2].startswith("killed 1 of 2 (50%)")
    monkeypatch.setattr(sys, "argv", ["mutants.py", "--first", "1"])
    assert mutants.main() == 0
