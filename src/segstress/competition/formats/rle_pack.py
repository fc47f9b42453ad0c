"""The bit stream in which Label Studio keeps what a brush painted: runs of bytes (the layout of thi.ng/rle-pack)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import UInt8

from ...core import BadImage

COUNT, WORD = 32, 8  # bits of the number of values, and of a value
SIZES = (4, 8, 12, 16)  # bits that may tell how long a run is
LONGEST = 1 << SIZES[-1]  # values in one run

LARGEST = 20_000_000  # bytes of a stream


def pack_runs(values: UInt8[np.ndarray, " values"]) -> bytes:
    """Pack values into a stream of runs, each with the shortest length field that holds it."""
    bits = [f"{len(values):0{COUNT}b}", f"{WORD - 1:05b}", *(f"{size - 1:04b}" for size in SIZES)]
    starts = np.flatnonzero(np.diff(values, prepend=~values[:1]))
    for start, end in zip(starts, np.append(starts[1:], len(values)), strict=True):
        for begin in range(int(start), int(end), LONGEST):
            length = min(LONGEST, int(end) - begin) - 1
            field = next(field for field, size in enumerate(SIZES) if length >> size == 0)
            bits.append(f"1{field:02b}{length:0{SIZES[field]}b}{values[begin]:0{WORD}b}")
    joined = np.frombuffer("".join(bits).encode(), dtype=np.uint8) - ord("0")
    return np.packbits(joined).tobytes()


def unpack_runs(data: bytes, expected: int) -> UInt8[np.ndarray, " values"]:
    """Unpack a stream of runs of one value and stretches of different ones; BadImage where it is no stream."""
    if len(data) > LARGEST:
        raise BadImage(f"its brush has {len(data):,} bytes, more than the {LARGEST:,} that are read")
    bits = "".join(f"{byte:08b}" for byte in data)
    try:
        parts = list(_parts(bits, expected))
    except EOFError as error:
        raise BadImage("its brush is cut short; export the project again") from error
    return np.concatenate([np.zeros(0, dtype=np.uint8), *parts])


def _parts(bits: str, expected: int) -> Iterator[np.ndarray]:
    at = 0

    def read(size: int) -> int:
        nonlocal at
        if at + size > len(bits):
            raise EOFError
        at += size
        return int(bits[at - size : at], 2)

    count, word = read(COUNT), read(5) + 1
    if (count, word) != (expected, WORD):
        raise BadImage(f"its brush holds {count} values of {word} bits, expected {expected} of {WORD}")
    sizes = [read(4) + 1 for _ in SIZES]
    left = count
    while left > 0:
        repeated = read(1)
        length = min(left, 1 + read(sizes[read(2)]))
        values = [read(WORD)] * length if repeated else [read(WORD) for _ in range(length)]
        yield np.array(values, dtype=np.uint8)
        left -= length
