"""The contract over every registered metric."""

from __future__ import annotations

import pytest

from segstress.metrics.metric import metrics
from segstress.testing.metrics import METRIC_CHECKS, check_metric


@pytest.mark.parametrize("check", METRIC_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", metrics.names())
def test_contract(name, check):
    check(metrics.get(name))


def of_the_first_image(counts, *, weights=None):
    return float(counts[0, :, 0].sum() / counts[0, :, 2].sum())


def in_percent(counts, *, weights=None):
    return 100 * metrics.get("accuracy")(counts, weights=weights)


for planted_metric in (of_the_first_image, in_percent):
    planted_metric.declaration = metrics.get("accuracy").declaration


@pytest.mark.parametrize("planted", [of_the_first_image, in_percent], ids=lambda metric: metric.__name__)
def test_planted_bug_turns_the_contract_red(planted):
    with pytest.raises(AssertionError):
        check_metric(planted)
