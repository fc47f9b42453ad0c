"""Compare with the stored outputs byte for byte, or store them anew."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from . import changes, deltas, tables
from .stored import CHANGES, DELTAS, FOLDER, stored, stored_tables


def main() -> int:
    renew = "--renew" in sys.argv
    wrong: list[str] = []
    for what, made, path in (("attack", deltas, DELTAS), ("corruption", changes, CHANGES)):
        facts = {name: made.facts(name) for name in made.names()}
        if renew:
            path.write_text(json.dumps(facts, indent=0) + "\n")
        else:
            before = stored(path)
            wrong += [f"{what} {name}" for name in sorted({*facts, *before}) if facts.get(name) != before.get(name)]
    for name in tables.RUNS:
        with tempfile.TemporaryDirectory() as folder:
            made = tables.make(name, Path(folder))
        if renew:
            place = FOLDER / "tables" / name
            place.mkdir(parents=True, exist_ok=True)
            for path in place.glob("*.csv"):
                path.unlink()
            for table, text in made.items():
                (place / table).write_text(text)
        else:
            before = stored_tables(name)
            wrong += [f"{name}/{table}" for table in sorted({*made, *before}) if made.get(table) != before.get(table)]
    print("\n".join(wrong) or ("stored" if renew else "byte-equal"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
