"""The files of a cell's shards, and whether each shard is as it was written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ..core import BadInput
from .checksums import checksum, read_json, write_json

FILE = re.compile(r"(?:images|counts|objects|traces|kept|maps|sums)-(\w+)\.(?:parquet|zst|json)")
ASIDE = "set-aside"  # where shards lie that do not count
MANIFEST = "manifest.json"
JOINED = "joined_"  # begins the stem of a shard that was joined from others
REPLACED = "replaces"  # in the sums of a joined shard: what it was joined from


def shard_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of every shard of a cell by its stem, whole or not."""
    shards: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        named = FILE.fullmatch(path.name)
        if named:
            shards.setdefault(named[1], []).append(path)
    return shards


def write_sums(folder: Path, stem: str, files: Mapping[str, bytes], joined: Collection[str] = ()) -> None:
    """Write the checksums of a shard's files; with them it is whole, and the shards do not count that it joins."""
    sums = {name: checksum(data) for name, data in files.items()}
    before = {REPLACED: {other: sums_checksum(folder, other) for other in joined}} if joined else {}
    write_json(folder / f"sums-{stem}.json", {"cell": folder.name, "files": sums, **before})


def sums_checksum(folder: Path, stem: str) -> str:
    """Return the checksum of a shard's checksums, by which it is known; nothing where it has none."""
    path = folder / f"sums-{stem}.json"
    return checksum(path.read_bytes()) if path.exists() else ""


def joined_by(folder: Path, stem: str) -> dict[str, str]:
    """Return the shards that a whole shard was joined from, each with the checksum of its sums."""
    return dict(read_json(folder / f"sums-{stem}.json").get(REPLACED, {}))


def replaced(folder: Path, stems: Iterable[str], whole: Iterable[str], listed: Collection[str]) -> set[str]:
    """Return the shards whose content others hold: what was joined, and joined ones of which a kill left only a part.

    A later shard of the same images is another, and a joined one that the manifest lists was whole."""
    joined = {stem: sums for by in whole for stem, sums in joined_by(folder, by).items()}
    sums = {stem: sums_checksum(folder, stem) for stem in stems}
    return {
        stem
        for stem, there in sums.items()
        if (stem in joined and there in ("", joined[stem]))
        or (stem.startswith(JOINED) and not there and stem not in listed)
    }


def remove(paths: Iterable[Path]) -> None:
    """Delete the files of a replaced shard; that of the checksums last, since by it the shard is known."""
    for path in sorted(paths, key=lambda path: path.name.startswith("sums-")):
        path.unlink(missing_ok=True)


def examine(folder: Path, stem: str, paths: Iterable[Path]) -> str:
    """Return what is wrong with a shard, by the name of a file; nothing where it is as it was written."""
    sums, names = f"sums-{stem}.json", {path.name for path in paths}
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
    shards = {stem: sums_checksum(folder, stem) for stem in stems}
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


def compare(folder: Path, manifest: Mapping[str, str], stems: Sequence[str]) -> dict[str, str]:
    """Return what is wrong with shards, each whole by itself, that a manifest does not list as they are."""
    joined = {stem: joined_by(folder, stem) for stem in stems if stem not in manifest}
    known = {stem for stem, before in joined.items() if before and before.items() <= manifest.items()}
    there = {*stems, *(before for stem in known for before in joined[stem])}
    wrong = {stem: f"images-{stem}.parquet is missing, with its whole shard" for stem in set(manifest) - there}
    for stem in stems:
        if stem in known:  # a kill came before the manifest was written anew
            continue
        if stem not in manifest:
            wrong[stem] = f"images-{stem}.parquet is foreign: {MANIFEST} does not know its shard"
        elif manifest[stem] != sums_checksum(folder, stem):
            wrong[stem] = f"sums-{stem}.json is another than the one that {MANIFEST} knows"
    return wrong


def set_aside(folder: Path, paths: Iterable[Path]) -> None:
    """Move files where they do not count."""
    for path in paths:
        (folder / ASIDE).mkdir(exist_ok=True)
        path.replace(folder / ASIDE / path.name)
