"""Where work runs and results rest."""

from .executors import Local
from .files import alone, write
from .numerics import Numerics, record
from .parquet import read_table, write_table
from .store import Cell, Shard, Store, Unit

__all__ = [
    "Cell",
    "Local",
    "Numerics",
    "Shard",
    "Store",
    "Unit",
    "alone",
    "read_table",
    "record",
    "write",
    "write_table",
]
