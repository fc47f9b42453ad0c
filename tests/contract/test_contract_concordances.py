"""The contract over every registered measure of agreement."""

from __future__ import annotations

import pytest

from segstress.competition.discrepancy import concordances
from segstress.testing import check_concordance


@pytest.mark.parametrize("name", concordances.names())
def test_contract(name):
    check_concordance(name)


def test_planted_bug_turns_the_contract_red(register):
    def swayed(counts):
        """Agreement that prefers the first."""
        return counts[..., 0].sum(-1) / (1 + counts[..., 2].sum(-1))

    register(concordances, swayed)
    with pytest.raises(AssertionError):
        check_concordance("planted")
