"""Files that tell by themselves whether they are as they were written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core import BadInput
from ..core.files import write

KEY = "checksum"
HEADER = re.compile(r"# checksum ([0-9a-f]{32})\n")
REMEDY = "restore it, or delete it and run the same command again"


def checksum(data: bytes) -> str:
    """Hash bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def write_json(path: Path, plain: Mapping[str, Any]) -> None:
    """Write plain data together with its checksum, which is of the file's name too."""
    content = json.loads(json.dumps(plain))
    content[KEY] = _of(path, content)
    write(path, json.dumps(content, indent=1, sort_keys=True).encode())


def read_json(path: Path, remedy: str = REMEDY, items: str = "") -> dict[str, Any]:
    """Read what `write_json` wrote, or refuse it; earlier versions wrote no checksum, and bare lists for `items`."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; {remedy}") from error
    except ValueError as error:
        raise BadInput(f"{path} is damaged: {str(error).splitlines()[0]}; {remedy}") from error
    if items and isinstance(content, list):
        return {items: content}
    if not isinstance(content, dict):
        raise BadInput(f"{path} is damaged: expected a mapping, found {type(content).__name__}; {remedy}")
    written = content.pop(KEY, None)
    if written not in (None, _of(path, content)):
        raise BadInput(f"{path} changed since it was written: its checksum does not fit; {remedy}")
    return content


def write_text(path: Path, text: str) -> None:
    """Write text below a comment with its checksum."""
    write(path, f"# checksum {checksum(text.encode())}\n{text}".encode())


def read_text(path: Path, remedy: str = REMEDY) -> str:
    """Read what `write_text` wrote, or refuse it; a file without such a comment is taken as it is."""
    try:
        text = path.read_text()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; {remedy}") from error
    except ValueError as error:
        raise BadInput(f"{path} is damaged: {error}; {remedy}") from error
    header = HEADER.match(text)
    if header and header[1] != checksum(text[header.end() :].encode()):
        raise BadInput(f"{path} changed since it was written: its checksum does not fit; {remedy}")
    return text


def _of(path: Path, content: Mapping[str, Any]) -> str:
    return checksum(json.dumps([path.name, content], sort_keys=True, separators=(",", ":")).encode())
