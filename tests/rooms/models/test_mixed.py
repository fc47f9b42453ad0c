"""Searching in mixed precision, judging in full."""

from __future__ import annotations

from pathlib import Path

import torch

from segstress.evaluation import evaluate
from segstress.evaluation.verify import verify
from segstress.models import load
from segstress.models.mixed import Mixed
from segstress.runtime import RunOptions


def test_logits_are_float32_and_close() -> None:
    network, images = load("compact:cnn-normal"), torch.rand(1, 3, 32, 32, requires_grad=True)
    logits = Mixed(network)(images)
    assert logits.dtype == torch.float32
    exact = network(images)
    apart, largest = (logits - exact).abs().amax().item(), exact.abs().amax().item()
    assert 0 < apart < 0.1 * largest
    assert torch.autograd.grad(logits.sum(), images)[0].abs().sum() > 0


def test_run_searched_in_bfloat16_is_judged_in_float32(tmp_path: Path) -> None:
    asked = {"models": ["compact:cnn-normal"], "data": ["shapes:test?count=2&size=32"], "eps": "8/255"}
    numerics = {"dtype": "bfloat16", "channels_last": True, "batch_size": 1}
    plan = {**asked, "perturbations": ["pgd?steps=2"], "numerics": numerics, "keep_images": True}
    done = evaluate(plan, tmp_path, RunOptions(workers=1))
    assert not done.errors
    assert all(verdict.sound for verdict in verify(tmp_path))
