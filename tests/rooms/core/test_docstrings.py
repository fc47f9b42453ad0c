"""Docstrings of functions and methods say what they do, in the imperative."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import segstress

ROOT = Path(segstress.__file__).parent
LATER: tuple[str, ...] = ()
NOUN_PHRASES = {
    *("the", "a", "an", "whether", "what", "which", "how", "where", "who", "each", "every", "all", "one", "no"),
    *("those", "that", "its", "of", "for", "from", "number", "share", "images", "settings", "logits", "counts"),
}
ROOMS = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists() and path.name not in LATER)


def is_property(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator).endswith("property") for decorator in function.decorator_list)


def first_words(source: str) -> dict[str, str]:
    """Return the first word of the docstring of each function by its line and name, properties left out."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    texts = {f"{node.lineno} {node.name}": ast.get_docstring(node) for node in functions if not is_property(node)}
    return {name: text.split()[0].strip("`:,.").lower() for name, text in texts.items() if text}


@pytest.mark.parametrize("room", ROOMS)
def test_a_function_is_described_in_the_imperative(room):
    wrong = [
        f"{path.relative_to(ROOT)}:{name} begins with '{word}'"
        for path in sorted((ROOT / room).rglob("*.py"))
        for name, word in first_words(path.read_text()).items()
        if word in NOUN_PHRASES
    ]
    assert not wrong, "say what it does: Return the ..., Tell whether ..., Count ..."


def test_the_rule_sees_a_noun_phrase_and_lets_properties_be():
    source = 'def f():\n    """The sum."""\nclass C:\n    @property\n    def p(self):\n        """A part."""\n'
    assert first_words(source) == {"1 f": "the"}
