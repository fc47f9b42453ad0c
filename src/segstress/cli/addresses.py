"""Folders of results that were given as addresses of object stores, such as s3://bucket/mine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .console import console

FOLDERS = ("out", "runs", "run", "folder", "folders", "against", "clean")  # parameters that name results
DISK = ("file://", "local://")  # fsspec's names for this machine's files


@contextmanager
def folders_here(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what was given, with a folder of this machine in the place of every address, which follows it."""
    others = {name: _local(value, None) for name, value in given.items() if name not in FOLDERS}
    with ExitStack() as stack:
        yield {**others, **{name: _local(given[name], stack) for name in FOLDERS if name in given}}


def _local(value: Any, stack: ExitStack | None) -> Any:
    """Return what was given as it lies on this machine; without a stack an address is refused."""
    if isinstance(value, list | tuple):
        return [_local(one, stack) for one in value]
    if not isinstance(value, Path) or ":" not in str(value):
        return value
    from ..core import BadInput
    from ..core.remote import address_in
    from ..runtime import mirrored

    address = address_in(value)
    if not address:
        return value
    if address.startswith(DISK):
        return Path("/") / address.partition("://")[2]
    if stack is None:
        raise BadInput(
            f"expected a file or folder of this machine, found the address {address}; give one of this machine "
            "(segstress publish copies folders there and back)"
        )
    folder = stack.enter_context(mirrored(address))
    console.print(f"{address}: worked on in {folder}", soft_wrap=True)
    return folder
