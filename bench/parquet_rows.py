"""Peak memory and CPU time of reading all rows of a Parquet pool of small images, each size in a fresh process.

Command: python bench/parquet_rows.py [--rows 10000,100000]. It should not grow with the rows.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from segstress.core.system import peak_memory
from segstress.data import datasets

GROUP = 1000  # rows of a row group, as Hugging Face writes them
SIDE = 8
MEBIBYTE = 2**20


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="10000,100000")
    parser.add_argument("--read", type=Path)
    given = parser.parse_args()
    if given.read:
        read(given.read)
        return
    for rows in map(int, given.rows.split(",")):
        with tempfile.TemporaryDirectory() as place:
            write(Path(place) / "rows.parquet", rows)
            command = [sys.executable, __file__, "--read", place]
            grown, seconds = map(float, subprocess.check_output(command, text=True).split())
        cost = f"{seconds:.0f} s CPU, {1e6 * seconds / rows:.0f} microseconds a row"
        print(f"{rows:>10,} rows: peak grew by {grown:.1f} MiB after the first row group; {cost}", flush=True)


def write(path: Path, rows: int) -> None:
    """Write rows with images, a group at a time."""
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(256, size=(SIDE, SIDE, 3)).astype(np.uint8)).save(buffer, "png")
    table = pa.table({"image": [{"bytes": buffer.getvalue(), "path": ""}] * GROUP})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _ in range(rows // GROUP):
            writer.write_table(table, row_group_size=GROUP)


def read(folder: Path) -> None:
    """Read all images in their order, and print by how much the peak grew, and the CPU time."""
    pool = datasets.build({"kind": "parquet", "root": str(folder)})
    before, begun = 0, time.process_time()
    for stretch in pool.stretches():
        for id_ in stretch:
            pool.read(id_)
        before = before or peak_memory()
    print((peak_memory() - before) / MEBIBYTE, time.process_time() - begun)


if __name__ == "__main__":
    main()
