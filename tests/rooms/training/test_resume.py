"""A training that was stopped and taken up again leaves the same files as one that was not."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from safetensors.torch import load_file

from segstress.core import to_plain
from segstress.fitting.train import train
from segstress.training import Watcher

SEGSTRESS = Path(sys.executable).parent / "segstress"


class Stopped(Exception):
    pass


def stop_after(step):
    def watch(moment):
        if moment.step == step:
            raise Stopped

    return Watcher(step=watch)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".safetensors", ".json")}


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_resumed_equals_uninterrupted(quick, tmp_path, step, optimiser):
    plan = quick(optimiser=optimiser)
    train(plan, tmp_path / "whole")
    with pytest.raises(Stopped):
        train(plan, tmp_path / "stopped", stop_after(step))
    assert files(tmp_path / "whole") != files(tmp_path / "stopped")
    train(plan, tmp_path / "stopped")
    assert files(tmp_path / "whole") == files(tmp_path / "stopped")


def test_resuming_repeats_no_step(quick, tmp_path):
    with pytest.raises(Stopped):
        train(quick(), tmp_path, stop_after(3))
    steps = []
    train(quick(), tmp_path, Watcher(step=lambda moment: steps.append(moment.step)))
    assert steps == [3, 4, 5, 6]  # a state is kept every two steps and at the end of an epoch of three
    train(quick(), tmp_path, Watcher(step=lambda moment: steps.append(moment.step)))
    assert len(steps) == 4


def test_killed_for_real(quick, tmp_path):
    plan = quick(epochs=15, validation=None)
    file = tmp_path / "plan.yaml"
    file.write_text(yaml.safe_dump(to_plain(plan)))
    command = [SEGSTRESS, "train", file, "--out", tmp_path / "killed"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    state = tmp_path / "killed" / "state.safetensors"
    for _ in range(600):
        if state.exists():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    train(plan, tmp_path / "whole")
    train(plan, tmp_path / "killed")
    whole, killed = (load_file(tmp_path / name / "state.safetensors") for name in ("whole", "killed"))
    assert whole.keys() == killed.keys()
    assert all(whole[name].equal(killed[name]) for name in whole)
