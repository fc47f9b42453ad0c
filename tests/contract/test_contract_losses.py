"""The contract over every registered loss."""

from __future__ import annotations

import pytest

from segstress.attacks.losses import losses
from segstress.testing.losses import LOSS_CHECKS, check_loss


@pytest.mark.parametrize("check", LOSS_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", losses.names())
def test_contract(name, check):
    check(losses.get(name))


def wrong_sign(view):
    return -losses.get("ce")(view)


def counts_void(view):
    return losses.get("ce")(view).flatten(1).sum(1)


def batch_mean(view):
    return losses.get("ce")(view) / len(view.logits)


def overflows(view):
    return view.logits.exp().sum(1)


@pytest.mark.parametrize("planted", [wrong_sign, counts_void, batch_mean, overflows], ids=lambda loss: loss.__name__)
def test_planted_bug_turns_the_contract_red(planted):
    with pytest.raises(AssertionError):
        check_loss(planted)
