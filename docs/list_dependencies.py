"""Write docs/dependencies.md: version, licence and origin of every package that an installation brings.

python docs/list_dependencies.py > docs/dependencies.md
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from importlib import metadata

HEAD = """# Dependencies

What `pip install 'segstress[dev,docs,torchvision,smp,hf,onnx,mmseg,tiff,judge,ray]'` brought when this list was made,
as the installed packages say of themselves; `python docs/list_dependencies.py` makes it anew. The hash is the
sha256 of the archive that `pip install package==version` takes for CPython {python} on {system} {machine}, as pip's
report names it (`pip install --dry-run --no-deps --ignore-installed --report -`): write it behind `--hash=sha256:` in a
file of requirements. Other platforms have other archives. `pip install --constraint constraints.txt` pins direct ones.

| package | version | licence | asked for by | sha256 of its archive |
|---|---|---|---|---|"""
NAME = re.compile(r"[A-Za-z0-9._-]+")
BRACKETS = re.compile(r"[A-Za-z0-9._-]+\[([^\]]*)\]")  # the extras that are asked for
EXTRA = re.compile(r"extra\s*==\s*[\"']([^\"']+)")
LONGEST = 60  # characters of a licence


def plain(name: str) -> str:
    """Return a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def asked() -> dict[str, str]:
    """Walk from segstress along the requirements of what is installed: package -> who asked for it first."""
    asked_by, looked = dict[str, str](), set[tuple[str, frozenset[str]]]()
    waiting = [("segstress", "", frozenset({"*"}))]
    while waiting:
        name, by, extras = waiting.pop(0)
        if (name, extras) in looked:
            continue
        looked.add((name, extras))
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        asked_by.setdefault(name, by)
        for need in needs:
            optional = EXTRA.search(need)
            if not optional or optional[1] in extras or "*" in extras:
                brackets = BRACKETS.match(need)
                waiting.append(
                    (plain(NAME.match(need)[0]), name, frozenset(brackets[1].split(",") if brackets else ()))
                )
    return asked_by


def licence(about: metadata.PackageMetadata) -> str:
    """Return what a package says of its licence: an expression, classifiers, or the first line of a text."""
    words = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    text = about.get("License-Expression") or ", ".join(words) or (about.get("License") or "not said").splitlines()[0]
    return text.replace("|", "/")[:LONGEST]


def wheels(names: list[str]) -> dict[str, str]:
    """Ask pip which archives it would install: package -> sha256."""
    pinned = [f"{name}=={metadata.version(name)}" for name in names]
    options = ("--dry-run", "--no-deps", "--ignore-installed", "--quiet", "--report", "-")
    command = [sys.executable, "-m", "pip", "install", *options, *pinned]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    archives = {plain(item["metadata"]["name"]): item["download_info"]["archive_info"] for item in report["install"]}
    return {name: archive.get("hashes", {}).get("sha256", "not given") for name, archive in archives.items()}


def main() -> None:
    """Print the table."""
    packages = {name: by for name, by in sorted(asked().items()) if name != "segstress"}
    hashes = wheels(list(packages))
    here = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    lines = [HEAD.format(**here)]
    for name, by in packages.items():
        about = metadata.metadata(name)
        lines.append(f"| {about['Name']} | {about['Version']} | {licence(about)} | {by} | `{hashes[name]}` |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
