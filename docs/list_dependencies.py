"""Write docs/dependencies.md: version, licence and origin of every package that an installation brings.

python docs/list_dependencies.py > docs/dependencies.md
"""

from __future__ import annotations

import hashlib
import re
import sys
from importlib import metadata

HEAD = """# Dependencies

What `pip install 'segstress[dev,torchvision,smp,hf,onnx,mmseg,tiff,judge]'` brought when this list was made, as the
installed packages say of themselves; `python docs/list_dependencies.py` makes it anew. The hash is sha256 over the
lines of the package's RECORD that name a hash, sorted: it is equal where the same files were installed, whatever
compiled files or scripts pip added. `pip install --constraint constraints.txt` pins the direct ones.

| package | version | licence | asked for by | hash of its files |
|---|---|---|---|---|"""
NAME = re.compile(r"[A-Za-z0-9._-]+")
LONGEST = 60  # characters of a licence


def plain(name: str) -> str:
    """Return a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def asked() -> dict[str, str]:
    """Walk from segstress along the requirements of what is installed: package -> who asked for it first."""
    found, waiting = {}, [("segstress", "")]
    while waiting:
        name, by = waiting.pop(0)
        if name in found:
            continue
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        found[name] = by
        for need in needs:
            optional = re.search(r"extra\s*==", need)
            if not optional or name == "segstress":
                waiting.append((plain(NAME.match(need)[0]), name))
    return found


def licence(about: metadata.PackageMetadata) -> str:
    """Return what a package says of its licence: an expression, classifiers, or the first line of a text."""
    words = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    text = about.get("License-Expression") or ", ".join(words) or (about.get("License") or "not said").splitlines()[0]
    return text.replace("|", "/")[:LONGEST]


def files_hash(name: str) -> str:
    """Return a hash over the hashes of a package's own files."""
    record = metadata.distribution(name).read_text("RECORD") or ""
    kept = [line for line in record.splitlines() if "sha256=" in line and not line.startswith("..")]
    kept = [line for line in kept if not re.search(r"/(INSTALLER|REQUESTED|direct_url\.json),", line)]
    return hashlib.sha256("\n".join(sorted(kept)).encode()).hexdigest()


def main() -> None:
    """Print the table."""
    lines = [HEAD]
    for name, by in sorted(asked().items()):
        if name != "segstress":
            about = metadata.metadata(name)
            lines.append(f"| {about['Name']} | {about['Version']} | {licence(about)} | {by} | `{files_hash(name)}` |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
