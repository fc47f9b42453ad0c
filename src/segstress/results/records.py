"""From a run to its record: where the figures come from, its seal and what it cost."""

from __future__ import annotations

from ..runtime import Cell
from .provenance import provenance
from .record import RunRecord
from .run import Run
from .seal import read_seal


def read_record(run: Run) -> RunRecord:
    """Return where the figures of a run come from."""
    cleans = [cell for cell in run.cells if cell.is_clean]
    seal, _ = read_seal(run)
    spent = [_passes(run, cell) for cell in run.cells]
    forwards, backwards = (sum(side) for side in zip((0, 0), *spent, strict=True))
    return RunRecord(
        sources=tuple(
            {"name": cell.names["model"], "dataset": cell.names["data"], **provenance(run, cell)} for cell in cleans
        ),
        images=sum(len(run.expected(cell)) for cell in {cell.fingerprints["data"]: cell for cell in cleans}.values()),
        forwards=forwards,
        backwards=backwards,
        seal=seal.seal if seal else "",
    )


def _passes(run: Run, cell: Cell) -> tuple[int, int]:
    """Return forwards and backwards; the goals of one image come from the same passes."""
    images = run.images(cell)
    columns = (images[name].to_pylist() for name in ("image", "forwards", "backwards"))
    spent = {image: (forwards, backwards) for image, forwards, backwards in zip(*columns, strict=True)}
    return sum(forwards for forwards, _ in spent.values()), sum(backwards for _, backwards in spent.values())
