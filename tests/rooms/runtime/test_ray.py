"""Ray beside worker processes: the same answers, whoever dies, and files for workers that do not reach the folder."""

from __future__ import annotations

import io
import pickle
import re
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest
import torch
from dying import Adding, Doubling, Sleeping, Unpackable
from tests.conftest import net
from tests.tables import tables

import segstress
from segstress.core import BadInput, files, system
from segstress.core.files import sweep, write
from segstress.evaluation import evaluate, run
from segstress.evaluation.verify import verify
from segstress.evaluation.worker import Worker
from segstress.results.run import Run
from segstress.results.seal import unseal
from segstress.runtime import Local, RunOptions, Unit
from segstress.runtime.elsewhere import Luggage, Station, lay_out, named_files, reach_token, read_files

ray = pytest.importorskip("ray")
from segstress.runtime import ray_cluster, ray_executor  # noqa: E402
from segstress.runtime.ray_cluster import Cluster  # noqa: E402
from segstress.runtime.ray_executor import ATTEMPTS, Ray  # noqa: E402

PLAN = {
    "models": [net("tiny")],
    "data": ["shapes:test?count=6&size=24"],
    "perturbations": ["pgd?steps=3"],
    "eps": "8/255",
}
RAY = RunOptions(workers=2, shard_size=1, executor="ray")


@pytest.fixture(scope="module", autouse=True)
def started():
    """Ray is started once for all tests of this file, by the first that needs it."""
    yield
    ray.shutdown()


def luggage(work) -> Luggage:
    """What a worker is sent off with that does not find the driver's token."""
    return Luggage(pickle.dumps(work), 1, str(Path.cwd()), (), "no such file")


def test_a_run_on_ray_equals_one_on_worker_processes(tmp_path):
    evaluate(PLAN, tmp_path / "local", RunOptions(workers=1))
    evaluate(PLAN, tmp_path / "ray", RAY)
    assert tables(tmp_path / "ray") == tables(tmp_path / "local")
    assert not list((tmp_path / "ray").glob(".reached*"))
    assert all(verdict.sound for verdict in verify(tmp_path / "ray", run_options=RAY))


@pytest.mark.slow
def test_every_unit_is_answered_once_although_workers_die(tmp_path):
    work = Doubling(tmp_path / "run", deadly=4, deaths=ATTEMPTS - 1)
    said = []
    assert sorted(Ray(Cluster(2), said.append).map(work, range(10))) == [2 * number for number in range(10)]
    assert said.count("three is odd") == 1
    assert sum(line.startswith("the worker died") for line in said) == ATTEMPTS - 1
    assert not (tmp_path / "run" / "lost.txt").exists()


@pytest.mark.slow
def test_a_unit_of_which_workers_die_again_and_again_is_given_up(tmp_path):
    work = Doubling(tmp_path / "run", deadly=4, deaths=100)
    assert sorted(Ray(Cluster(1)).map(work, range(6))) == [-4, 0, 2, 4, 6, 10]
    assert (tmp_path / "run" / "lost.txt").read_text() == "the worker died 3 times while it was worked on"


@pytest.mark.slow
def test_a_unit_that_waits_for_a_slow_worker_is_given_to_an_idle_one(tmp_path):
    """The first worker is slow; what waited for it is answered before it, and done once."""
    answers = list(Ray(Cluster(2)).map(Sleeping(tmp_path / "run", slow=0, seconds=9), range(6)))
    assert sorted(answers) == [0, 1, 2, 3, 4, 5]
    assert answers[-1] == 0
    assert sorted((tmp_path / "run" / "begun.txt").read_text().split()) == ["0", "1", "2", "3", "4", "5"]


def test_what_cannot_be_served_is_said_as_in_this_process(tmp_path):
    with pytest.raises(BadInput) as refused:
        list(Ray(Cluster(2)).map(Doubling(tmp_path / "run", refused=2), range(4)))
    assert str(refused.value) == "2 cannot be doubled"


@pytest.mark.parametrize(("here", "names"), [(True, []), (False, ["nets.py"])])
def test_files_go_along_unless_ray_was_started_here(here, names, tmp_path, monkeypatch):
    Cluster(2).connect()
    if not here:  # as where the user's session is connected to a cluster, or RAY_ADDRESS is set
        monkeypatch.setattr(ray_cluster, "_started_here", set())
    monkeypatch.setattr(ray_executor, "send", lambda value: value)
    write(tmp_path / "nets.py", b"")
    crew = ray_executor.Crew(Ray(Cluster(2), files=(tmp_path / "nets.py",)), Doubling(tmp_path), tmp_path, "")
    assert [Path(name).name for name in crew.sent_along[1]] == names


def test_the_address_of_the_environment_counts_where_none_is_asked_for(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    assert Cluster().wanted == "head:6379"
    assert Cluster(address="other:6379").wanted == "other:6379"
    assert Cluster(address="local").wanted == ""


@pytest.mark.parametrize("address", ["127.0.0.1:{}", "[127.0.0.1]:{}", "127.0.0.1:99999"])
def test_where_nothing_listens_is_said_before_models_are_loaded(address, tmp_path, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = address.format(free.getsockname()[1])
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray_cluster, "KNOCKING", 0.2)
    monkeypatch.setattr(run, "_survey", None)
    with pytest.raises(BadInput, match=f"no Ray cluster was reached at '{re.escape(address)}': .*; try ray start"):
        evaluate(PLAN, tmp_path / "run", replace(RAY, ray_address=address))


def test_an_address_that_answers_late_is_reached(monkeypatch):
    with socket.socket() as late:
        late.bind(("127.0.0.1", 0))
        monkeypatch.setattr(ray, "is_initialized", lambda: False)
        threading.Timer(0.3, late.listen).start()
        Cluster(address=f"127.0.0.1:{late.getsockname()[1]}").knock()


def test_room_that_there_will_never_be_is_refused_at_once():
    with pytest.raises(BadInput, match="no room for 1 worker on this machine: each needs 1 CPU and 99 GPU, and"):
        Cluster(1, gpus=99).connect()
    with pytest.raises(BadInput, match="no room for 99 workers on this machine"):
        Cluster(99).check_room(99)


def test_a_device_that_only_workers_have_is_left_to_them(tmp_path, monkeypatch):
    """What stands for it here is a name of the processor that this process claims not to have."""
    plan = {**PLAN, "numerics": {"device": "cpu:0"}}
    with monkeypatch.context() as patched:
        patched.setattr(system, "_device_fault", lambda name: "" if name == "cpu" else "not here")
        evaluate(plan, tmp_path / "ray", RAY)
        with pytest.raises(BadInput, match="device 'cpu:0' cannot be used: not here; try --device cpu"):
            evaluate(plan, tmp_path / "local", RunOptions(workers=1))
        with pytest.raises(BadInput, match="--budget: expected a machine with device 'cpu:0'"):
            evaluate({**plan, "perturbations": [], "battery": "quick", "budget": 60.0}, tmp_path / "budget", RAY)
        with pytest.raises(BadInput, match="device 'cdua' cannot be used"):
            evaluate({**plan, "numerics": {"device": "cdua"}}, tmp_path / "slip", RAY)
    evaluate(plan, tmp_path / "local", RunOptions(workers=1))
    assert tables(tmp_path / "ray") == tables(tmp_path / "local")


@pytest.mark.skipif(torch.cuda.is_available(), reason="of a machine that lacks it")
def test_a_worker_that_lacks_the_device_says_so(tmp_path):
    with pytest.raises(BadInput, match=r"worker on .*: device 'cuda' cannot be used: .* by --gpus-per-worker"):
        evaluate({**PLAN, "numerics": {"device": "cuda"}}, tmp_path / "run", RAY)


@pytest.mark.skipif(torch.cuda.is_available(), reason="of a machine that lacks it")
def test_a_competition_says_which_device_is_not_here(segstress):
    models = ("--model", "compact:cnn-normal", "--model", "compact:transformer-normal")
    pool = ("--pool", "shapes:test?count=2&size=32", "--scale", "none", "--out", "web", "--device", "cuda")
    said = segstress("mad", "stream", *models, *pool)
    assert said.code == 2
    assert "device 'cuda' cannot be used: " in said.err


def test_a_worker_that_does_not_reach_the_folder_sends_what_it_writes(tmp_path):
    folder = tmp_path / "run"
    for number in range(2):
        write(folder / "doubled" / f"{number}.txt", b"7")
    far = Station()
    assert not far.greet(luggage(Adding(folder)), {}).shared
    inputs = {str(path.relative_to(folder)): path.read_bytes() for path in Adding(folder).inputs(1)}
    assert far.answer(1, 1, inputs).answer == 8
    far.greet(luggage(Doubling(folder)), {})
    written = far.answer(2, 3, {})
    assert dict(written.files) == {"doubled/3.txt": b"6"}
    assert written.warnings == ("three is odd",)
    assert not (folder / "doubled" / "3.txt").exists()


def test_error_rows_take_the_place_of_what_workers_die_of(tmp_path):
    evaluate({**PLAN, "limit": 1}, tmp_path / "run", RunOptions(workers=1))
    begun = Run(tmp_path / "run")
    unseal(begun)
    cell = begun.cells[-1]
    worker = Worker(tmp_path / "run", begun.plan.numerics, frozenset())
    answered, other = begun.ids(cell)[0], "shapes-of-another-day"
    worker.give_up(Unit(((cell, (answered, other)),), ((answered, other),)), "the worker died")
    rows = Run(tmp_path / "run").images(cell).to_pylist()
    assert {row["image"]: row["status"] for row in rows} == {answered: "ok", other: "error"}


def test_what_a_killed_driver_left_by_which_workers_see_its_folder_is_swept_away(tmp_path, monkeypatch):
    with reach_token(tmp_path) as token:
        (tmp_path / token.replace("reached", "ray-train") / "below").mkdir(parents=True)
        sweep(tmp_path)
        assert len(list(tmp_path.iterdir())) == 2, "its process is alive"
        monkeypatch.setattr(files, "is_running", lambda process: False)
        sweep(tmp_path)
        assert not list(tmp_path.iterdir())


def test_files_that_specs_name_reach_another_machine(tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    for name, text in (("nets.py", "import layers"), ("layers.py", ""), ("weights.pt", "w"), ("other.txt", "")):
        write(here / name, text.encode())
    specs = [{"kind": "factory", "function": f"{here}/nets.py:enet", "weights": here / "weights.pt"}, "shapes:test"]
    laid = read_files(named_files(specs))
    assert sorted(Path(name).name for name in laid) == ["layers.py", "nets.py", "weights.pt"]
    moved = {name.replace(str(here), str(there)): data for name, data in laid.items()}
    monkeypatch.chdir(tmp_path)
    lay_out(moved, str(there))
    assert Path.cwd() == there
    assert (there / "nets.py").read_text() == "import layers"
    write(there / "weights.pt", b"others")
    with pytest.raises(BadInput, match=r"another .*weights\.pt"):
        lay_out(moved, str(there))


def test_without_ray_one_line_says_what_to_install(tmp_path):
    script = (
        "import sys; sys.modules['ray'] = None; from segstress.cli.main import main; "
        "main(['attack', '--model', 'compact:cnn-normal', '--data', 'shapes:test?count=1&size=32', '--attack', 'fgsm', "
        "'--eps', '8/255', '--executor', 'ray'])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'segstress[ray]'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_local_asks_for_units_as_workers_become_free(tmp_path):
    taken = []

    def units():
        for number in range(40):
            taken.append(number)
            yield number

    answers = Local(2).map(Doubling(tmp_path / "run"), units())
    next(answers)
    assert len(taken) < 40
    assert len(list(answers)) == 39


def test_local_hands_the_work_over_once_however_many_units_there_are(tmp_path):
    packed = []

    class Noting(pickle.Pickler):
        def reducer_override(self, value):
            packed.extend([value] * isinstance(value, Doubling))
            return NotImplemented

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ForkingPickler, "reducer_override", Noting.reducer_override, raising=False)
        patched.setattr(pickle, "dumps", lambda value: _dumps(Noting, value))
        assert sorted(Local(2).map(Doubling(tmp_path / "run"), range(20))) == [2 * number for number in range(20)]
    assert len(packed) == 1


def _dumps(pickler, value) -> bytes:
    stream = io.BytesIO()
    pickler(stream).dump(value)
    return stream.getvalue()


def test_local_says_what_is_wrong_with_the_work_itself(tmp_path):
    with pytest.raises(BadInput, match="it cannot be unpacked"):
        list(Local(2).map(Unpackable(), range(4)))


def test_two_files_import_ray():
    package = Path(segstress.__file__).parent
    pattern = re.compile(r"^\s*(import|from) ray\b", re.MULTILINE)
    known = {path.name for path in package.rglob("*.py") if pattern.search(path.read_text())}
    assert known == {"ray_cluster.py", "ray_training.py"}
