"""A cluster of two nodes on this machine: one is lost in the middle of a run, and no figure knows of it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import dying
import pytest
from tests.conftest import net
from tests.tables import tables

from segstress.contests.compete import begin, walk
from segstress.contests.plan import read_contest
from segstress.evaluation import evaluate
from segstress.runtime import Progress, RunOptions

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

from segstress.runtime import ray_cluster, ray_executor  # noqa: E402

pytestmark = pytest.mark.slow
PLAN = {
    "models": [net("tiny")],
    "data": ["shapes:test?count=12&size=24"],
    "perturbations": ["pgd?steps=20", "segpgd?steps=20"],
    "eps": "8/255",
}
CONTEST = {"models": [net("tiny"), net("Blurred")], "pool": "shapes:test?count=8&size=24", "shard_size": 2}


@pytest.fixture
def cluster():
    ray.shutdown()
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture
def unreached(monkeypatch):
    """Workers that do not find the run's folder, as on another machine."""

    @contextmanager
    def token(folder):
        yield "never written"

    monkeypatch.setattr(ray_executor, "reach_token", token)


def test_a_cluster_that_the_environment_names_is_not_this_machine(cluster, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    named = ray_cluster.Cluster(1)
    named.connect()
    assert not named.is_here()
    assert ray.get_runtime_context().gcs_address == cluster.address


def test_a_node_is_lost_and_no_table_changes(cluster, monkeypatch, tmp_path):
    second = cluster.add_node(num_cpus=1)
    options = RunOptions(workers=2, shard_size=1, executor="ray", ray_address=cluster.address)
    plan = {**PLAN, "models": [f"factory:{dying.__file__}:slow"]}
    said, welcomed, answered = [], [], []
    monkeypatch.setattr(ray_executor.Crew, "_welcome", lambda crew, greeting: welcomed.append(greeting))

    def advance(number, words=""):
        answered.append(len(welcomed))
        if answered.count(2) == 4:
            cluster.remove_node(second, allow_graceful=False)

    evaluate(plan, tmp_path / "ray", options, Progress(advance=advance, warn=said.append))
    assert answered.count(2) > 4, "the second node came too late to be lost"
    assert [line for line in said if line.startswith("the worker died")]
    evaluate(plan, tmp_path / "local", RunOptions(workers=1))
    assert tables(tmp_path / "ray") == tables(tmp_path / "local")


def test_what_workers_elsewhere_find_is_sent_to_this_machine(cluster, unreached, tmp_path):
    options = RunOptions(workers=1, shard_size=2, executor="ray", ray_address=cluster.address)
    said = []
    evaluate(PLAN, tmp_path / "ray", options, Progress(warn=said.append))
    assert [line for line in said if "is sent to this machine" in line]
    evaluate(PLAN, tmp_path / "local", RunOptions(workers=1))
    assert tables(tmp_path / "ray") == tables(tmp_path / "local")
    contest = read_contest(CONTEST)
    for name, others in (("mad-ray", {}), ("mad-local", {"executor": "local", "ray_address": ""})):
        walk(begin(contest, tmp_path / name), Progress(), replace(options, **others))
    found = [
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name / "models").rglob("*.*")}
        for name in ("mad-ray", "mad-local")
    ]
    assert found[0] == found[1]
