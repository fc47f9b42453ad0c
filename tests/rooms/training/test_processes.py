"""Two processes take the same step as one: the loss is divided by the valid pixels of both."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file

from segstress.core import BadInput, to_plain
from segstress.fitting.train import train

from .conftest import NETWORKS

STEP = {
    "model": f"factory:{NETWORKS}:grouped",
    "data": "shapes:train?count=8&size=24&border=1",  # the void border makes valid pixels differ between processes
    "recipe": {"kind": "adversarial", "share": 0.6, "attack": "pgd?steps=2&eps=8/255&random_start=false&keep=last"},
    "optimiser": "sgd",
    "epochs": 1,
    "batch_size": 8,
}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "last.safetensors")


def assert_same_step(first: Path, second: Path, begun_with: dict[str, torch.Tensor]) -> None:
    ours, theirs = weights(first), weights(second)
    for name, before in begun_with.items():
        assert not ours[name].equal(before)
        torch.testing.assert_close(ours[name] - before, theirs[name] - before, rtol=1e-3, atol=1e-7)


@pytest.fixture
def one(quick, tmp_path):
    """The step of one process on the whole batch."""
    train(quick(**STEP), tmp_path / "one")
    return tmp_path / "one"


def begun_with() -> dict[str, torch.Tensor]:
    from .networks import grouped

    return grouped().state_dict()


def test_two_processes_equal_one(quick, one, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(yaml.safe_dump(to_plain(quick(**STEP))))
    command = [*TORCHRUN, Path(sys.executable).parent / "segstress", "train", plan, "--out", tmp_path / "two"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("epoch 1") == 1
    assert_same_step(one, tmp_path / "two", begun_with())
    clean = [yaml.safe_load((folder / "last.json").read_text()) for folder in (one, tmp_path / "two")]
    assert clean[0]["accuracy"] == pytest.approx(clean[1]["accuracy"])
    assert clean[0]["validation"]["clean"] == pytest.approx(clean[1]["validation"]["clean"])


def test_parts_equal_the_whole_batch(quick, one, tmp_path):
    train(quick(**STEP, parts=4), tmp_path / "parts")
    assert_same_step(one, tmp_path / "parts", begun_with())


def test_a_batch_that_cannot_be_cut(quick, tmp_path):
    with pytest.raises(BadInput, match="batch_size 8 cannot be cut into 3 parts"):
        train(quick(**STEP, parts=3), tmp_path / "odd")


def kill_tree(process: int) -> None:
    """Kill a process and all below it, whatever groups they are in, the leaves first."""
    with suppress(OSError):  # of one that has ended meanwhile
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            kill_tree(int(child))
        os.kill(process, signal.SIGKILL)


def below(process: int) -> list[int]:
    """All processes that one has started, and those that they have."""
    with suppress(OSError):
        children = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
        return [each for child in children for each in (child, *below(child))]
    return []


def kill_one(process: int, name: bytes) -> None:
    """Kill one process of that name below another, as soon as there is one."""
    for _ in range(6000):
        for other in below(process):
            with suppress(OSError):
                if name in Path(f"/proc/{other}/cmdline").read_bytes():
                    os.kill(other, signal.SIGKILL)
                    return
        time.sleep(0.01)
    raise AssertionError(f"no process {name.decode()} was there to be killed")


@pytest.mark.slow
def test_ray_train_begins_again_where_a_process_was_killed(quick, tmp_path):
    pytest.importorskip("ray.train")
    plan = tmp_path / "plan.yaml"
    plan.write_text(yaml.safe_dump(to_plain(quick(**{**STEP, "epochs": 40, "save_every": 1, "batch_size": 4}))))
    command = [Path(sys.executable).parent / "segstress", "train", plan, "--executor", "ray", "--workers", "2"]

    def start(name: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, "--out", tmp_path / name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    start("whole").communicate()
    process = start("killed")
    while not (tmp_path / "killed" / "state.safetensors").exists() and process.poll() is None:
        time.sleep(0.01)
    kill_one(process.pid, b"ray::RayTrainWorker")
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert "a process died: all processes begin again from the last state" in said
    last = [(tmp_path / name / "last.safetensors").read_bytes() for name in ("whole", "killed")]
    assert last[0] == last[1]
    assert not list((tmp_path / "killed").glob(".r*@*")), "what Ray Train writes of its own is removed"


@pytest.mark.slow
def test_ray_train_says_what_is_wrong_in_one_line_and_tries_it_once(quick, tmp_path):
    pytest.importorskip("ray.train")
    plan = tmp_path / "plan.yaml"
    plan.write_text(yaml.safe_dump(to_plain(quick(**{**STEP, "batch_size": 3}))))
    command = [Path(sys.executable).parent / "segstress", "train", plan, "--executor", "ray", "--workers", "2"]
    done = subprocess.run([*command, "--out", tmp_path / "odd"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "begin again" not in done.stderr + done.stdout
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


@pytest.mark.slow
def test_ray_and_torchrun_go_on_with_each_others_states(quick, tmp_path):
    """Two processes of either make the same bytes, and so does one that goes on where the other was killed."""
    pytest.importorskip("ray.train")
    plan = tmp_path / "plan.yaml"
    plan.write_text(yaml.safe_dump(to_plain(quick(**{**STEP, "epochs": 12, "save_every": 1, "batch_size": 4}))))
    segstress = [Path(sys.executable).parent / "segstress", "train", plan]
    by_torchrun, by_ray = [*TORCHRUN, *segstress], [*segstress, "--executor", "ray", "--workers", "2"]

    def run(command: list, name: str) -> bytes:
        done = subprocess.run([*command, "--out", tmp_path / name], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("epoch 12:") == 1, "it was not left anything to do"
        return (tmp_path / name / "last.safetensors").read_bytes()

    whole = run(by_torchrun, "torchrun")
    assert run(by_ray, "ray") == whole
    for name, first, then in (("to-ray", by_torchrun, by_ray), ("to-torchrun", by_ray, by_torchrun)):
        process = subprocess.Popen([*first, "--out", tmp_path / name], stdout=subprocess.DEVNULL)
        while not (tmp_path / name / "state.safetensors").exists() and process.poll() is None:
            time.sleep(0.01)
        kill_tree(process.pid)
        assert process.wait() == -signal.SIGKILL, "it ended before it could be killed"
        assert run(then, name) == whole
