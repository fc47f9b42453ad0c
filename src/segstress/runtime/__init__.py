"""Where work runs and results rest."""

from .addresses import mirrored
from .cell import SCHEMA, Cell, Unit
from .checksums import checksum, read_json, read_text, write_json, write_text
from .executors import Executor, prepare, start_executor
from .local_executor import Local, refuse_rerun
from .numerics import Numerics, other_rounding, record, record_elsewhere, recorded, refuse_other
from .options import Progress, RunOptions
from .parquet import read_table, write_table
from .shard import SCHEMAS, Shard
from .store import Store

__all__ = [
    "SCHEMA",
    "SCHEMAS",
    "Cell",
    "Executor",
    "Local",
    "Numerics",
    "Progress",
    "RunOptions",
    "Shard",
    "Store",
    "Unit",
    "checksum",
    "mirrored",
    "other_rounding",
    "prepare",
    "read_json",
    "read_table",
    "read_text",
    "record",
    "record_elsewhere",
    "recorded",
    "refuse_other",
    "refuse_rerun",
    "start_executor",
    "write_json",
    "write_table",
    "write_text",
]
