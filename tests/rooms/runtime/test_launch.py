"""Processes that trained together part before the interpreter ends."""

from __future__ import annotations

import os
import subprocess
import sys

ALONE = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
TOGETHER = """
import os
import torch
from torch import distributed
from segstress.runtime.launch import joined

def threads():
    return [open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")]

with joined("gloo"):
    import torch.distributed.nn  # as optimisers do with their first step
    distributed.all_reduce(torch.ones(3))
    print(sum("gloo" in name for name in threads()))
print(sum("gloo" in name for name in threads()))
"""


def test_no_thread_of_the_group_outlives_it() -> None:
    """One that does may abort the process while the interpreter ends."""
    command = [sys.executable, "-c", TOGETHER]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | ALONE)
    assert done.returncode == 0, done.stderr
    during, after = map(int, done.stdout.split())
    assert during > 0
    assert after == 0
