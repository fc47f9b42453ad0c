"""YAML from strangers: plain values only, no key twice, and bounded before anything is expanded."""

from __future__ import annotations

from typing import Any, NoReturn

import yaml
from yaml.nodes import MappingNode, Node

from .errors import BadInput

MOST = 100_000  # values, those that aliases repeat counted each time
DEEPEST = 60  # lists and mappings inside each other


class Located(dict[Any, Any]):
    """A mapping that knows the line of each of its keys."""

    lines: dict[str, int]


def parse_yaml(text: str, name: str) -> Any:
    """Return what the text says; a fault is one line that names the place."""
    _check_characters(text, name)
    loader = _Bounded(text)
    try:
        node = loader.get_single_node()
        plain = None if node is None else loader.construct_document(node)
        return _located(plain, node) if isinstance(node, MappingNode) else plain
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark else ""
        raise BadInput(f"{name} is not valid YAML{where}: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise BadInput(f"{name} is not valid YAML: {str(error).partition(chr(10))[0]}") from error
    finally:
        loader.dispose()


def _located(plain: Any, node: MappingNode) -> Any:
    if not isinstance(plain, dict):
        return plain
    located = Located(plain)
    located.lines = {str(key.value): key.start_mark.line + 1 for key, _ in node.value}
    return located


def _check_characters(text: str, name: str) -> None:
    """Refuse characters that YAML does not know, before a loader is made."""
    match = yaml.SafeLoader.NON_PRINTABLE.search(text)
    if match:
        line = text.count("\n", 0, match.start()) + 1
        raise BadInput(f"{name} is not valid YAML, line {line}: the character {match.group()!r} is not allowed")


class _Bounded(yaml.SafeLoader):
    """PyYAML's safe loader, with an eye on size, depth and doubled keys."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.count = self.depth = 0
        self.sizes: dict[str, int] = {}  # values below each anchor

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        """Count a node with all that it stands for."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            if event.anchor in self.anchors and event.anchor not in self.sizes:
                self._refuse(f"'{event.anchor}' refers to itself", event)
            self._add(self.sizes.get(event.anchor, 1), event)
            return super().compose_node(parent, index)
        before, self.depth = self.count, self.depth + 1
        if self.depth > DEEPEST:
            self._refuse(f"more than {DEEPEST} lists and mappings inside each other", event)
        self._add(1, event)
        node = super().compose_node(parent, index)
        self.depth -= 1
        if event.anchor:
            self.sizes[event.anchor] = self.count - before
        return node

    def _add(self, values: int, event: Any) -> None:
        self.count += values
        if self.count > MOST:
            self._refuse(f"expands to more than {MOST:,} values", event)

    def _refuse(self, problem: str, event: Any) -> NoReturn:
        raise yaml.composer.ComposerError(None, None, problem, event.start_mark)

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that stands twice: one of the two would be lost in silence."""
        lines: dict[Any, int] = {}
        for key, _ in node.value:
            word = (key.tag, key.value) if isinstance(key.value, str) else id(key)
            if word in lines:
                problem = f"the key '{key.value}' stands twice, first in line {lines[word]}"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            lines[word] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)
