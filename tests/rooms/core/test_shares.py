"""Shares of pixels, in integers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from segstress.core.shares import parts, suffices


@pytest.mark.parametrize(
    ("share", "written"), [(0.99, (99, 100)), (0.9, (9, 10)), (1.0, (1, 1)), (0.9999, (9999, 10000))]
)
def test_shares_are_written_as_people_mean_them(share: float, written: tuple[int, int]) -> None:
    assert parts(share) == written


@pytest.mark.parametrize("counted", [10, 100, 9216, 1000003 * 20, 4096 * 4096])
@pytest.mark.parametrize("share", [0.9, 0.95, 0.99, 0.995])
def test_exactly_enough_is_enough_and_one_less_is_not(counted: int, share: float) -> None:
    numerator, denominator = parts(share)
    least = -(-counted * numerator // denominator)
    assert suffices(least, counted, share)
    assert not suffices(least - 1, counted, share)
    assert suffices(torch.tensor([least, least - 1]), torch.tensor(counted), share).tolist() == [True, False]
    assert suffices(np.array([least, least - 1]), np.array(counted), share).tolist() == [True, False]
