"""What an attack tells of its way: running minima at round numbers of passes, one image as good as many."""

from __future__ import annotations

import pytest
import torch

from segstress.attacks import Attack, Problem, attacks
from segstress.attacks.search.history import History
from segstress.core import Threat
from segstress.metrics.counts import predict
from segstress.testing import toy_batch, toy_model

THREAT = Threat(radius=0.05)


def test_a_trace_reads_the_last_look_within_each_round_number():
    history = History()
    for forwards, scores in (([1, 2], [90, 80]), ([3, 4], [70, 60]), ([3, 6], [70, 10])):
        history.note(torch.tensor(forwards), torch.tensor(scores, dtype=torch.float64))
    assert history.traces() == ({1: 90, 2: 90, 3: 70}, {1: 80, 2: 80, 5: 60, 6: 10})


def test_a_trace_begins_with_clean_never_rises_and_ends_with_the_result():
    model = toy_model()
    batch = toy_batch(model)
    perturbed = Attack(algorithm=attacks.build("pgd?steps=12"), threat=THREAT).perturb(model, batch, 0)
    clean, after = (
        ((predict(model(images)) == batch.labels) & batch.valid).flatten(1).sum(1).tolist()
        for images in (batch.images, perturbed.results[0].images)
    )
    for place, trace in enumerate(perturbed.traces):
        values = list(trace.values())
        assert list(trace) == [1, 2, 5, 10, int(perturbed.forwards[place])]
        assert values == sorted(values, reverse=True)
        assert (values[0], values[-1]) == (clean[place], after[place])
        assert values[0] > values[-1]


def test_neighbours_leave_no_mark_in_a_trace():
    model = toy_model()
    batch = toy_batch(model)
    attack = Attack(algorithm=attacks.build("progressive-jsd?steps=12"), threat=THREAT)
    alone = [attack.perturb(model, batch.pick([place]), 0).traces[0] for place in range(len(batch))]
    assert list(attack.perturb(model, batch, 0).traces) == alone


@pytest.mark.parametrize("settings", [{"keep": "last"}, {"threat": Threat(radius=0.05, target=1)}])
def test_where_correct_pixels_are_not_followed_there_is_no_trace(settings):
    model = toy_model()
    attack = Attack(**{"algorithm": attacks.build("pgd?steps=3"), "threat": THREAT, **settings})
    assert attack.perturb(model, toy_batch(model), 0).traces == ()


def test_a_resting_image_stays_at_its_passes():
    model = toy_model()
    batch = toy_batch(model)
    problem = Problem(model, batch, THREAT)
    delta = problem.start(random=True)
    for _ in range(3):
        problem.look(delta, "ce", resting=torch.tensor([False, True, False]))
    assert [max(trace) for trace in problem.history.traces()] == [4, 1, 4]
