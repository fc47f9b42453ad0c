"""Names read from the source: a misspelt one is answered at once, before anything that needs torch is loaded.

What passes here is looked up again by the registries, which also know what a plug-in registers."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator, Set
from functools import cache
from pathlib import Path
from typing import Any

import typer
import yaml

PACKAGE = Path(__file__).parent.parent
REGISTRIES = {  # where things of a sort are registered: (room, registry)
    "model": [("models", "models")],
    "dataset": [("data", "datasets")],
    "attack": [
        ("attacks", "attacks"),
        ("corruptions", "corruptions"),
        *((room, "perturbations") for room in ("core", "attacks", "corruptions")),
    ],
}
BATTERIES = PACKAGE / "plans" / "batteries"
MOST = 1_000_000  # characters of a plan
PLAN = PACKAGE / "planning" / "plan.py"


def check_names(sort: str, specs: Iterable[Any]) -> None:
    """Refuse a name that nothing in the package registers."""
    names = [_name(spec) for spec in specs if isinstance(spec, str)]
    known = registered(sort) if names else frozenset()
    for name in names:
        if name not in known:
            _refuse(sort, name, known)


def check_battery(name: str | None) -> None:
    """Refuse a battery that is neither in the package, of whichever sort, nor the path of a file."""
    known = {path.stem for path in BATTERIES.rglob("*.yaml")}
    if name and name not in known and not name.endswith((".yaml", ".yml")):
        _refuse("battery", name, known)


def check_plan(path: Path) -> None:
    """Refuse a plan with a key that plans do not have, or with unknown names; reading it says what else is wrong."""
    text = _text(path)
    try:
        plan = yaml.safe_load(text)
        if not isinstance(plan, dict):
            return
        lines = {str(key.value): key.start_mark.line + 1 for key, _ in yaml.compose(text, yaml.SafeLoader).value}
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return
    known = fields(PLAN, "Plan")
    for key in map(str, plan):
        if key not in known:
            _refuse("key of a plan", key, known, where=f"{path}, line {lines.get(key, 1)}: ")
    if plan.get("plugins"):
        return
    battery = plan.get("battery")
    check_battery(battery if isinstance(battery, str) else None)
    for key, sort in (("models", "model"), ("data", "dataset")):
        specs = plan.get(key)
        check_names(sort, specs if isinstance(specs, list) else [specs])


def _text(path: Path) -> str:
    """Return the beginning of a file; nothing of one that cannot be read."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.read(MOST)
    except (OSError, ValueError):
        return ""


@cache
def registered(sort: str) -> frozenset[str]:
    """Return the names of a sort, and perhaps a few strings more where a file registers its names in a loop."""
    return frozenset(
        name
        for room, registry in REGISTRIES[sort]
        for path in (PACKAGE / room).rglob("*.py")
        for name in _registered(path, registry)
    )


def fields(path: Path, name: str) -> set[str]:
    """Return the settings that a class declares."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return {line.target.id for line in node.body if _is_field(line)}  # type: ignore[attr-defined]
    return set()


def _registered(path: Path, registry: str) -> Iterator[str]:
    """Yield the names that a file registers; where one is made in a loop, every string of the file."""
    text = path.read_text()
    if f"{registry}.register(" not in text and f"{registry}.preset(" not in text:
        return
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _registers(node.func, registry):
            if isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)
            else:
                yield from _strings(tree)


def _registers(called: ast.expr, registry: str) -> bool:
    if not isinstance(called, ast.Attribute) or called.attr not in ("register", "preset"):
        return False
    return isinstance(called.value, ast.Name) and called.value.id == registry


def _strings(tree: ast.AST) -> Iterator[str]:
    """Yield what could be a name: one word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            yield node.value


def _is_field(line: ast.stmt) -> bool:
    return isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)


def _name(spec: str) -> str:
    return spec.partition("?")[0].partition(":")[0]


def _refuse(sort: str, name: str, known: Set[str], where: str = "") -> None:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    advice = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(sorted(known))}"
    raise typer.BadParameter(f"{where}unknown {sort} '{name}'; {advice}")
