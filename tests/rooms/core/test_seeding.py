"""Draws belong to an image, never to a batch."""

from __future__ import annotations

import torch

from segstress.core import seed_of, uniform


def test_a_draw_depends_on_id_seed_and_purpose():
    like = torch.zeros(3, 2, 4, 4)
    together = uniform(like, ["a", "b", "c"], 0, "start-0")
    assert torch.equal(uniform(like[:1], ["c"], 0, "start-0")[0], together[2])
    assert not torch.equal(together[0], together[1])
    assert len({seed_of(*key) for key in [(0, "a", "x"), (1, "a", "x"), (0, "b", "x"), (0, "a", "y")]}) == 4


def test_draws_are_the_same_in_every_precision():
    single, double = (
        uniform(torch.zeros(1, 3, 5, 5, dtype=dtype), ["a"], 0, "p") for dtype in (torch.float32, torch.float64)
    )
    assert torch.equal(single, double.float())


def test_the_stream_never_changes_silently():
    assert seed_of(0, "image", "start-0") == 8077969716156177308  # stored runs resume with it
