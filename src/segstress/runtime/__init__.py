"""Where work runs and results rest."""

from .executors import Local, refuse_rerun
from .numerics import Numerics, record
from .options import Progress, RunOptions
from .parquet import read_table, write_table
from .store import Cell, Shard, Store, Unit

__all__ = [
    "Cell",
    "Local",
    "Numerics",
    "Progress",
    "RunOptions",
    "Shard",
    "Store",
    "Unit",
    "read_table",
    "record",
    "refuse_rerun",
    "write_table",
]
