"""Where work runs and results rest."""

from .executors import Local
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
    "write_table",
]
