"""Options of the steps of a competition: other numerics, errors tried again, plug-ins, metrics by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from segstress.contests.compete import reopen
from segstress.contests.plan import read_contest
from segstress.runtime import recorded

POOL = ("--pool", "shapes:pool?count=8&size=24&labelled=true", "--scale", "none")
MODELS = ("--model", "compact:cnn?seed=0", "--model", "compact:cnn?seed=1")
FAST = ("--workers", 1)
METRIC = """
from segstress.competition.discrepancy import concordances
from segstress.metrics.scores import image_miou
@concordances.register("mymetric")
def mymetric(counts):
    \"\"\"The same as miou.\"\"\"
    return image_miou(counts)
"""


@pytest.fixture
def begun(segstress):
    assert segstress("mad", "index", *POOL, *MODELS, "--out", "run", *FAST).code == 0
    assert segstress("mad", "predict", "run", *FAST).code == 0
    return segstress


@pytest.fixture
def selected(begun):
    assert begun("mad", "compare", "run", *FAST).code == 0
    assert begun("mad", "select", "run").code == 0
    return begun


def threads() -> tuple[int, int]:
    """Threads that the competition asks for, and those on record."""
    environment = recorded(Path("run"))
    assert environment is not None
    return read_contest(Path("run")).numerics.threads, environment.threads


def test_other_numerics_are_refused_before_anything_is_written(begun) -> None:
    for words in (("predict", "run"), ("index", *POOL, *MODELS, "--out", "run"), ("add", "run", *MODELS[:2])):
        said = begun("mad", *words, "--threads", 2, *FAST)
        assert said.code == 2
        assert "threads 1 -> 2" in said.err
        assert "--other-numerics" in said.err
        assert threads() == (1, 1), "a refusal leaves the competition as it was"


def test_other_numerics_go_on_where_they_are_asked_for(begun) -> None:
    assert begun("mad", "predict", "run", "--threads", 2, "--other-numerics", *FAST).code == 0
    assert threads() == (2, 2)
    assert begun("mad", "predict", "run", *FAST).code == 0, "what is not given stays"
    assert (
        begun("mad", "add", "run", "--model", "compact:cnn?seed=2", "--threads", 1, "--other-numerics", *FAST).code == 0
    )
    assert threads() == (1, 1)


def test_a_stream_goes_on_with_other_numerics(segstress) -> None:
    assert segstress("mad", "stream", *POOL, *MODELS, "--out", "run", "--shard-size", 64, *FAST).code == 0
    assert read_contest(Path("run")).shard_size == 64
    again = ("mad", "stream", *POOL, *MODELS, "--out", "run", "--shard-size", 64, "--threads", 2, *FAST)
    assert "--other-numerics" in segstress(*again).err
    assert segstress(*again, "--other-numerics").code == 0
    assert threads() == (2, 2)


def test_a_stream_may_be_made_in_parts(segstress) -> None:
    how = ("mad", "stream", *POOL, *MODELS, "--out", "run", "--json", *FAST)
    said = [segstress(*how, "--part", part) for part in ("1/2", "2/2")]
    assert [answer.code for answer in said] == [0, 0]
    assert json.loads(said[-1].out)["members"]


def test_add_tries_errors_again(segstress, tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(FAILS)
    factory = ("--model", f"factory:{tmp_path}/nets.py:moody")
    assert segstress("mad", "index", *POOL, *MODELS[:2], *factory, "--out", "run", *FAST).code == 0
    (tmp_path / "moody").touch()
    assert segstress("mad", "predict", "run", *FAST).code == 1
    (tmp_path / "moody").unlink()
    new = ("--model", "compact:cnn?seed=2")
    assert segstress("mad", "add", "run", *new, *FAST).code == 1, "errors are kept"
    assert segstress("mad", "add", "run", "--model", "compact:cnn?seed=3", "--retry-errors", *FAST).code == 0


FAILS = """
from pathlib import Path
import torch
class Moody(torch.nn.Module):
    seen = 0
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Conv2d(3, 7, 1)
    def forward(self, images):
        if Path(__file__).with_name("moody").exists():
            Moody.seen += 1
            if Moody.seen > 1:  # when a competition is opened, every model is tried once
                raise ValueError("not today")
        return self.net(images)
def moody():
    torch.manual_seed(0)
    return Moody()
"""


def test_a_misspelt_metric_is_answered_in_one_line(selected) -> None:
    said = selected("mad", "rank", "run", "--also", "fwio", "--draws", 10)
    assert said.code == 2
    assert said.err.strip().splitlines()[-1] == "segstress: unknown concordance 'fwio'; did you mean 'fwiou'?"
    said = selected("mad", "index", *POOL, *MODELS, "--out", "other", "--metric", "fwio")
    assert said.code == 2
    assert said.err.strip() == "segstress: competition: unknown concordance 'fwio'; did you mean 'fwiou'?"


def test_a_metric_of_a_plug_in_ranks_in_every_worker(selected, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(METRIC)
    also = ("--also", "mymetric", "--plugin", "mine.py", "--draws", 10, "--json")
    said = selected("mad", "rank", "run", *also, "--workers", 2)
    assert said.code == 0, said.err
    assert "mymetric" in json.loads(said.out)["otherwise"]
    assert read_contest(Path("run")).plugins == [], "what only ranks is not kept"


def test_workers_know_the_metric_of_a_plug_in(segstress, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(METRIC.replace("mymetric", "ourmetric"))
    given = ("--metric", "ourmetric", "--plugin", "mine.py", "--shard-size", 4)
    assert segstress("mad", "index", *POOL, *MODELS, "--out", "run", *given, *FAST).code == 0
    assert segstress("mad", "predict", "run", *FAST).code == 0
    said = segstress("mad", "compare", "run", "--workers", 2)
    assert said.code == 0, said.err


def test_plug_ins_may_be_added_to_a_competition(begun, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(METRIC.replace("mymetric", "theirmetric"))
    said = begun("mad", "add", "run", "--model", "compact:cnn?seed=2", "--plugin", "mine.py", *FAST)
    assert said.code == 0, said.err
    assert reopen(Path("run")).contest.plugins == ["mine.py"]
    assert len(reopen(Path("run")).names) == 3


@pytest.mark.slow
def test_the_demo_takes_options_of_a_run(segstress) -> None:
    said = segstress("mad", "demo", "--count", 10, "--threads", 2, "--shard-size", 5, "--out", "run", *FAST)
    assert said.code == 0, said.err
    assert threads() == (2, 2)
    assert read_contest(Path("run")).shard_size == 5
