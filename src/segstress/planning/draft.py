"""A plan as a file to edit: what was asked for, and every other key with its default, commented."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from .plan import Plan, read_plan
from .schema import schema_of

HEAD = """# A plan of segstress: every model on every dataset under every perturbation; clean is always among them.
# segstress plan FILE says what it costs, segstress run FILE carries it out; run it again to resume.
# A line that begins with "# " and a key holds its default. segstress schema prints all of this for editors.
"""
NOTED = "battery_label"  # written by a run, not by people


def draft(given: Mapping[str, Any]) -> str:
    """Return the text of a plan, refused where it would not be read."""
    read_plan(given)
    return "\n".join([HEAD, *_lines(given)]) + "\n"


def _lines(given: Mapping[str, Any]) -> Iterator[str]:
    schema = schema_of(Plan)
    for key, about in schema["properties"].items():
        if key == NOTED:
            continue
        words = f"  # {about['description']}" if "description" in about else ""
        if key in given:
            yield f"{_value(key, given[key])}{words}"
        elif "default" in about:
            yield f"# {_value(key, about['default'])}{words}"
        else:
            yield f"# {_value(key, [])}{words}"


def _value(key: str, value: Any) -> str:
    """Write a key and its value in one line."""
    return yaml.safe_dump({key: value}, default_flow_style=True, width=10_000).strip()[1:-1]
