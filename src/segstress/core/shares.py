"""Shares of pixels compared in integers, so that rounding never decides whether 90 % are 90 %."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .errors import BadInput

FINEST = 1_000_000  # parts in which a share is written


def parse_share(value: Any) -> float:
    """Read a share written as a number or in percent: 0.99 or 99%."""
    text = str(value).strip()
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError as error:
        raise BadInput(f"expected a share such as 0.99 or 99%, found {value!r}") from error
    if not 0 <= share <= 1:
        raise BadInput(f"expected a share between 0 and 1, found {value!r}")
    return share


def parts(share: float) -> tuple[int, int]:
    """Write a share as a numerator and a denominator: 0.99 is 99 of 100."""
    exact = Fraction(share).limit_denominator(FINEST)
    return exact.numerator, exact.denominator


def suffices(won: Any, counted: Any, share: float) -> Any:
    """Tell whether so many pixels are at least that share of those counted; of integers, arrays or tensors."""
    numerator, denominator = parts(share)
    return won * denominator >= numerator * counted
