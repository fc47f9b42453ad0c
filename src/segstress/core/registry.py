"""Names for everything that can be chosen: look one up, list them, build settings from a spec and back again."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import pydantic
from pydantic import PlainSerializer, PlainValidator

from .configuration import plain_defaults, shown, to_plain
from .errors import BadInput
from .yaml_text import parse_yaml

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Spec = str | Mapping[str, Any]
PACKAGE = __name__.partition(".")[0]


class Entry(NamedTuple):
    """What stands behind a name: a settings class or a function, with the settings a preset fixes."""

    make: Callable[..., Any]
    fixed: dict[str, Any]
    about: str


class Registry(Generic[T]):
    """The things of one sort that can be named, such as attacks."""

    def __init__(self, noun: str) -> None:
        self.noun = noun
        self._entries: dict[str, Entry] = {}

    def register(self, name: str) -> Callable[[F], F]:
        """Give a settings class or a function its name, as a decorator."""

        def add(make: F) -> F:
            self._add(name, Entry(make, {}, _first_line(make)))
            return make

        return add

    def preset(self, name: str, of: Callable[..., T], about: str, **fixed: Any) -> None:
        """Register one more name for a settings class, with other defaults."""
        self._add(name, Entry(of, fixed, about))

    def _add(self, name: str, entry: Entry) -> None:
        known = self._entries.get(name)
        if known is not None and not _is_same(known.make, entry.make):
            raise BadInput(
                f"{self.noun} '{name}' is registered twice: {known.make.__module__}, {entry.make.__module__}"
            )
        self._entries[name] = entry

    def names(self) -> list[str]:
        """Return every name, in alphabetical order."""
        return sorted(self._entries)

    def declared(self) -> list[str]:
        """Return every name, in the order of registration."""
        return list(self._entries)

    def about(self, name: str) -> str:
        """Return one line on what the name stands for."""
        return self._entry(name).about

    def fixed(self, name: str) -> dict[str, Any]:
        """Return the settings that a preset fixes."""
        return dict(self._entry(name).fixed)

    def get(self, name: str) -> Any:
        """Return the class or function behind a name."""
        return self._entry(name).make

    def _entry(self, name: str) -> Entry:
        if not isinstance(name, str):
            raise BadInput(f"{self.noun}: expected a name, found {type(name).__name__}; are the arguments in order?")
        if name not in self._entries:
            raise BadInput(f"unknown {self.noun} '{name[:100]}'; {suggest(name, self._entries)}")
        return self._entries[name]

    def build(self, spec: Spec) -> T:
        """Build settings from `name`, `name:rest?key=value` or a mapping with `kind`."""
        plain = self.read(spec)
        entry = self._entry(plain.pop("kind"))
        try:
            return entry.make(**{**entry.fixed, **plain})
        except pydantic.ValidationError as error:
            raise BadInput(f"{self.noun} {_kind(spec)}: {_explain(error, entry.make)}") from error

    def read(self, spec: Spec) -> dict[str, Any]:
        """Return a spec as a mapping with `kind`; text is taken apart at the first colon and the question mark.

        Where a class says `positional_is_spec`, all after the colon is one setting: a spec with its own query."""
        if isinstance(spec, Mapping):
            if "kind" not in spec:
                raise BadInput(f"{self.noun}: expected a mapping with 'kind', found keys {sorted(map(str, spec))}")
            return {str(key): value for key, value in spec.items()}
        if not isinstance(spec, str):
            raise BadInput(f"{self.noun}: expected a name or a mapping, found {type(spec).__name__}")
        head, mark, query = spec.partition("?")
        kind, colon, rest = head.partition(":")
        plain: dict[str, Any] = {"kind": kind}
        make = self._entry(kind).make if colon else None
        if getattr(make, "positional_is_spec", False):
            rest, query = f"{rest}{mark}{query}", ""
        if colon:
            plain[getattr(make, "positional", "name")] = rest
        for pair in filter(None, query.split("&")):
            key, equals, value = pair.partition("=")
            if not equals:
                raise BadInput(f"{self.noun} {spec}: expected key=value after '?', found '{pair}'")
            plain[key] = _scalar(value)
        return plain

    def spec(self, item: T) -> dict[str, Any]:
        """Return plain data from which `build` makes an equal item."""
        for name, entry in self._entries.items():
            if entry.make is type(item) and not entry.fixed:
                return {"kind": name, **to_plain(item)}
        raise BadInput(f"{type(item).__name__} is not a registered {self.noun}")

    def name(self, item: T) -> str:
        """Return the name that says most about an item, with settings that it does not imply: `segpgd(steps=10)`."""
        plain, kind = to_plain(item), type(item)
        mentioned, defaults = shown(kind), plain_defaults(kind)
        fixed = {name: entry.fixed for name, entry in sorted(self._entries.items()) if entry.make is kind}
        other = {  # settings to mention beside each name
            name: [key for key in mentioned if (defaults | own).get(key, ...) != plain[key]]
            for name, own in fixed.items()
        }

        def effort(name: str) -> tuple[int, int, int]:
            """Count what it takes to read it: a setting that contradicts a preset counts twice."""
            against = sum(plain[key] != value for key, value in fixed[name].items())
            return len(other[name]) + against, against, -len(fixed[name])

        name = min(fixed, key=effort)
        extra = [f"{key}={plain[key]}" for key in other[name]]
        return f"{name}({', '.join(extra)})" if extra else name

    def field(self) -> tuple[PlainValidator, PlainSerializer]:
        """Return annotations for a settings field that holds an item of this registry.

        Write `Annotated[T, *registry.field()]`."""
        build = PlainValidator(lambda value: self.build(value) if isinstance(value, str | Mapping) else value)
        return build, PlainSerializer(lambda item: None if item is None else self.spec(item))


def _kind(spec: Spec) -> str:
    return spec if isinstance(spec, str) else f"'{spec['kind']}'"


def _first_line(make: Any) -> str:
    return (make.__doc__ or "").strip().partition("\n")[0]


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the nearest known name, or all of them."""
    close = difflib.get_close_matches(name[:100], list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(sorted(known))}"


def _scalar(text: str) -> Any:
    if "," in text:
        return [_scalar(part) for part in text.split(",")]
    return parse_yaml(text, f"'{text[:100]}'") if text else ""


def _explain(error: pydantic.ValidationError, make: Any) -> str:
    """Return the first fault in one line, with a suggestion for a misspelt setting."""
    fault = error.errors()[0]
    setting = ".".join(str(part) for part in fault["loc"])
    known = dataclasses.fields(make) if dataclasses.is_dataclass(make) else ()
    fields = [field.name for field in known if not field.name.startswith("_")]
    if fault["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"unknown setting '{setting}'; {suggest(setting, fields)}"
    if fault["type"] == "missing":
        return f"setting '{setting}' is missing"
    message = fault["msg"].removeprefix("Value error, ")
    return f"{setting}: {message}, found {fault['input']!r}" if setting and fault["type"] != "value_error" else message


def _is_same(known: Callable[..., Any], new: Callable[..., Any]) -> bool:
    """Tell whether a source was only imported again, as plug-ins are; what comes with the package gives up no name."""
    ours = known.__module__.partition(".")[0] == PACKAGE
    return known.__qualname__ == new.__qualname__ and (not ours or known.__module__ == new.__module__)
