"""JSON schemas of plans, generated from the settings that read them, for editors and for the docs."""

from __future__ import annotations

import inspect
import re
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

import pydantic
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FIELD = re.compile(r"^    (\w+):.*?  # (.+)$", re.MULTILINE)  # a setting is explained once, on its own line


class _AsTyped(GenerateJsonSchema):
    """What people may write, which is more than what is stored: "8/255", "10%", one item where a list is meant."""

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        """Let in text, and of a list also one item."""
        stored = self.generate_inner(schema["schema"])
        choices = [stored, {"type": "string"}, *([stored["items"]] if "items" in stored else [])]
        return {"anyOf": choices}


def schema_of(settings: type[Any]) -> dict[str, Any]:
    """Return the JSON schema of some settings, each key with the words of its comment."""
    schema = pydantic.TypeAdapter(settings).json_schema(schema_generator=_AsTyped)
    _describe(schema, settings)
    for part in _parts(settings):
        _describe(schema["$defs"][part.__name__], part)
    return {"$schema": DIALECT, **schema}


def _describe(schema: dict[str, Any], settings: type[Any]) -> None:
    """Put the comments of a class into its schema, and the keys into its order."""
    comments = dict(FIELD.findall(inspect.getsource(settings)))
    described = {name: {**schema["properties"][name], **_words(comments, name)} for name in _names(settings)}
    schema["properties"] = described


def _words(comments: dict[str, str], name: str) -> dict[str, str]:
    return {"description": comments[name]} if name in comments else {}


def _names(settings: type[Any]) -> list[str]:
    return list(settings.__dataclass_fields__)


def _parts(settings: type[Any]) -> list[type[Any]]:
    """Return the settings that are values of settings."""
    kinds = [kind for hint in get_type_hints(settings).values() for kind in (hint, *get_args(hint))]
    return [kind for kind in dict.fromkeys(kinds) if isinstance(kind, type) and is_dataclass(kind)]
