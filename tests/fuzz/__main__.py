"""One case in a process of its own: python -m tests.fuzz KIND SEED."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.corpus import survives

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        print(survives(sys.argv[1], int(sys.argv[2]), Path(folder)).encode("ascii", "backslashreplace").decode())
