"""What a protocol looks for besides its data: an error about it names the option that replaces it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

OWN_PATHS = {"weights": "--class-weights", "target": "--target"}  # keys of plans: splits that --data does not replace
CODE = "it is yours to write beside the authors' code, as docs/models.md shows; or give a network of yours by --model"


@contextmanager
def naming(protocol: Mapping[str, Any], changes: Mapping[str, Any], network: str) -> Iterator[None]:
    """Say what to do about what a protocol's plan brings, where it is missing; `network` replaces its model."""
    from ..core import BadInput

    try:
        yield
    except BadInput as error:
        for advice in _advice(protocol, changes, network, str(error)):
            raise BadInput(f"{error}; {advice}") from error
        raise


def _advice(protocol: Mapping[str, Any], changes: Mapping[str, Any], network: str, said: str) -> Iterator[str]:
    """Yield what helps against an error that speaks of a path of the protocol's."""
    code = [path for path in _paths(protocol.get("models")) if path.endswith(".py")]
    if any(f"'{path}' does not exist" in said for path in code):
        yield CODE
    for key, option in (("data", "" if changes["data"] else "--data"), ("models", network)):
        if option and "not exist" in said and any(path in said for path in _paths(protocol.get(key))):
            yield f"that is where the protocol looks for it: give yours by {option}"
    for key, option in OWN_PATHS.items():
        spec = protocol.get(key)
        if changes["data"] and not changes[key] and any(path in said for path in _paths(spec)):
            yield f"the protocol takes {spec} as {key}: give yours by {option}"


def _paths(spec: Any) -> list[str]:
    return re.findall(r"[\w.-]+(?:/[\w.-]+)+", str(spec))
