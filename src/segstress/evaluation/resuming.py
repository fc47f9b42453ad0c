"""Before a run goes on: what is stored must be of this version, and as it was written."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import BadInput
from ..data import datasets
from ..results.run import Run
from ..results.seal import unseal
from ..runtime import SCHEMA, Cell, Progress, Store


def check_schema(store: Store) -> None:
    """Refuse to add to results of an earlier version; they can still be reported."""
    for cell in store.cells():
        schema = store.schema(cell)
        if schema != SCHEMA:
            raise BadInput(
                f"{store.folder} has results of schema {schema}, and this version writes {SCHEMA}: it reports and "
                "verifies them, but cannot go on with them; choose another --out"
            )


def refuse_changed_data(store: Store, cells: Sequence[Cell]) -> None:
    """Name the first file of the data that is another than when the run was begun, where its data are in files."""
    known = store.files()
    for cell in cells:
        files = datasets.build(cell.data).files() if cell.fingerprints["data"] not in known else {}
        for before in known.values() if files else ():
            if set(before) & set(files):
                name = min(name for name in before.keys() | files.keys() if before.get(name) != files.get(name))
                happened = "changed" if name in before and name in files else "is gone" if name in before else "is new"
                raise BadInput(f"{cell.names['data']}: {name} {happened} since the run was begun; choose another --out")


def reopen(store: Store, progress: Progress) -> None:
    """Set aside every shard with which something is wrong, and take the seal away."""
    for cell in store.cells():
        for fault in store.set_aside(cell):
            progress.warn(f"{store.folder}/{fault}: set aside, its images are computed again")
    for fault in store.misplaced():
        progress.warn(f"{store.folder}/{fault}: it does not count")
    unseal(Run(store.folder))
