"""Settings are data: one frozen, validated dataclass is the plan's node, the hash input and the message."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from typing import Annotated, Any, TypeVar, dataclass_transform

import pydantic
from pydantic import BeforeValidator, ConfigDict
from pydantic_core import to_jsonable_python

from .errors import BadInput

C = TypeVar("C", bound=type)
_CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def settings(cls: C) -> C:
    """Make a class frozen, keyword-only, validated settings; unknown names are refused."""
    return pydantic.dataclasses.dataclass(frozen=True, kw_only=True, config=_CONFIG)(cls)  # type: ignore[return-value]


def to_plain(item: Any) -> Any:
    """Turn settings into JSON-ready data."""
    return pydantic.TypeAdapter(type(item)).dump_python(item, mode="json")


def plain_defaults(cls: type) -> dict[str, Any]:
    """Return the settings of a class that have a default, as plain data."""
    fields = dataclasses.fields(cls)
    values = {field.name: _default(field) for field in fields}
    return {name: value for name, value in values.items() if value is not dataclasses.MISSING}


def shown(cls: type) -> list[str]:
    """Return the settings that a name mentions; those declared with `repr=False` are for the hash only."""
    return [field.name for field in dataclasses.fields(cls) if field.repr]


def _default(field: dataclasses.Field[Any]) -> Any:
    value = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return value if value is dataclasses.MISSING else to_jsonable_python(value, inf_nan_mode="constants")


def digest(data: Any, length: int = 12) -> str:
    """Hash plain data; the same on every machine and in every process."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()[:length]


def parse_radius(value: Any) -> float:
    """Read a radius written "8/255", "0.03" or as a number."""
    try:
        above, _, below = str(value).partition("/")
        radius = float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError) as error:
        raise BadInput(f'eps: expected a number or a fraction such as "8/255", found {value!r}') from error
    if math.isnan(radius) or radius < 0:
        raise BadInput(f"eps: expected a number of at least 0, found {value!r}")
    return radius


def format_radius(radius: float) -> str:
    """Write it as people do: 8/255 where it is one, else four digits."""
    for parts in (1, 2, 4):
        steps = radius * 255 * parts
        if 0 < radius <= 1 and abs(steps - round(steps)) < 1e-6:
            return f"{round(steps) / parts:g}/255"
    return f"{radius:.4g}"


Radius = Annotated[float, BeforeValidator(parse_radius)]
