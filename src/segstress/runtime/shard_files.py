"""The files of a cell's shards, and whether each shard is as it was written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..core import BadInput
from .checksums import checksum, read_json, write_json

FILE = re.compile(r"(?:images|counts|objects|traces|kept|maps|sums)-(\w+)\.(?:parquet|zst|json)")
ASIDE = "set-aside"  # where shards lie that do not count
MANIFEST = "manifest.json"


def shard_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of every shard of a cell by its stem, whole or not."""
    shards: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        named = FILE.fullmatch(path.name)
        if named:
            shards.setdefault(named[1], []).append(path)
    return shards


def write_sums(folder: Path, stem: str, files: Mapping[str, bytes]) -> None:
    """Write the checksums of a shard's files; with them it is whole."""
    sums = {name: checksum(data) for name, data in files.items()}
    write_json(folder / f"sums-{stem}.json", {"cell": folder.name, "files": sums})


def examine(folder: Path, stem: str, found: Iterable[Path]) -> str:
    """Return what is wrong with a shard, by the name of a file; nothing where it is as it was written."""
    sums, names = f"sums-{stem}.json", {path.name for path in found}
    if sums not in names:
        return f"{min(names)} belongs to a shard that was not finished or lost its {sums}"
    try:
        plain = read_json(folder / sums, "")
        cell, files = plain["cell"], dict(plain["files"])
    except (BadInput, KeyError, TypeError, ValueError):
        return f"{sums} changed since it was written"
    if cell != folder.name:
        return f"{sums} belongs to another cell ({cell})"
    strange = sorted(names - {sums, *files})
    if strange:
        return f"{strange[0]} is foreign: {sums} does not know it"
    for name, written in files.items():
        if name not in names:
            return f"{name} is missing"
        if checksum((folder / name).read_bytes()) != written:
            return f"{name} changed since it was written"
    return ""


def write_manifest(folder: Path, content: str, stems: Iterable[str]) -> None:
    """Write which shards a complete cell has, and the digest of what they hold together."""
    shards = {stem: checksum((folder / f"sums-{stem}.json").read_bytes()) for stem in stems}
    write_json(folder / MANIFEST, {"cell": folder.name, "content": content, "shards": shards})


def read_manifest(folder: Path) -> tuple[str, dict[str, str]] | None:
    """Return the digest and the shards of a complete cell; nothing of one that is not."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    plain = read_json(path)
    if plain.get("cell") != folder.name:
        raise BadInput(f"{path} belongs to another cell; delete it and run the same command again")
    return plain["content"], plain["shards"]


def compare(folder: Path, manifest: Mapping[str, str], stems: Iterable[str]) -> dict[str, str]:
    """Return what is wrong with shards, each whole by itself, that a manifest does not list as they are."""
    wrong = {stem: f"images-{stem}.parquet is missing, with its whole shard" for stem in set(manifest) - set(stems)}
    for stem in stems:
        if stem not in manifest:
            wrong[stem] = f"images-{stem}.parquet is foreign: {MANIFEST} does not know its shard"
        elif manifest[stem] != checksum((folder / f"sums-{stem}.json").read_bytes()):
            wrong[stem] = f"sums-{stem}.json is another than the one that {MANIFEST} knows"
    return wrong


def set_aside(folder: Path, paths: Iterable[Path]) -> None:
    """Move files where they do not count."""
    for path in paths:
        (folder / ASIDE).mkdir(exist_ok=True)
        path.replace(folder / ASIDE / path.name)
