"""From comparisons of pairs to one strength per model, by maximum likelihood; nothing is ranked that is not joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float64
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_expit, log_ndtr

from ..core import BadInput

Link = Literal["thurstone", "bradley-terry"]
ROUNDS = 100  # of Newton; five to eight are usual
HALVINGS = 40
CLOSE = 1e-10  # largest gradient of a finished fit, relative to the weights
LITTLE = 1e-12  # added to the curvature, relative to the weights
PRIOR = 0.1  # precision of the normal prior that keeps strengths finite where the comparisons do not


class Curve(NamedTuple):
    """The logarithm of the chance to win at a difference of strengths, with its slope and curvature."""

    value: np.ndarray
    slope: np.ndarray
    bend: np.ndarray


def thurstone(gap: np.ndarray) -> Curve:
    """Return normal differences (Thurstone case V), through log_ndtr so that even a gap of 40 stays finite."""
    value = log_ndtr(gap)
    slope = np.exp(-(gap**2) / 2 - np.log(2 * np.pi) / 2 - value)
    return Curve(value, slope, -slope * (gap + slope))


def bradley_terry(gap: np.ndarray) -> Curve:
    """Return logistic differences (Bradley and Terry 1952)."""
    lose = expit(-gap)
    return Curve(log_expit(gap), lose, -lose * (1 - lose))


LINKS = {"thurstone": thurstone, "bradley-terry": bradley_terry}


def fit(
    weights: Float64[np.ndarray, "*draws models models"],
    link: Link = "thurstone",
    prior: float | Float64[np.ndarray, " draws"] = 0.0,
) -> Float64[np.ndarray, "*draws models"]:
    """Maximise the sum of w_ij log F(mu_i - mu_j) - prior / 2 |mu|^2 over strengths of mean 0, by Newton's method.

    `weights` are ratios (the paper's mode) or wins of i over j; NaN and the diagonal count nothing. Without a prior
    models that no comparison joins keep the mean of their own group at 0.
    """
    models = weights.shape[-1]
    off = ~np.eye(models, dtype=bool)
    wins = np.where(off, np.nan_to_num(weights, nan=0.0), 0.0)
    wins = wins.reshape(-1, models, models)
    strengths = np.zeros(wins.shape[:2])
    hold = np.broadcast_to(np.asarray(prior, dtype=np.float64), len(wins))
    size = np.maximum(wins.sum((1, 2)), 1e-300)
    ridge = (LITTLE * size)[:, None, None] * np.eye(
        models
    )  # a group that nothing joins to the rest leaves a singularity
    for _ in range(ROUNDS):
        value, gradient, curvature = _likelihood(strengths, wins, link, hold)
        if (np.abs(gradient).max(1) <= CLOSE * size).all():
            break
        step = np.linalg.solve(curvature + 1 / models + ridge, gradient[..., None])[..., 0]
        strengths = _climb(strengths, step, value, wins, link, hold)
    centred = strengths - strengths.mean(1, keepdims=True)
    return centred.reshape(weights.shape[:-1])


def _likelihood(
    strengths: np.ndarray, wins: np.ndarray, link: Link, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log-likelihood, gradient, and curvature with its sign turned."""
    curve = LINKS[link](strengths[:, :, None] - strengths[:, None, :])
    pull, bend = wins * curve.slope, wins * curve.bend
    gradient = pull.sum(2) - pull.sum(1) - prior[:, None] * strengths
    joint = bend + bend.swapaxes(1, 2)
    own = np.eye(strengths.shape[1])
    curvature = own * (prior[:, None] - joint.sum(2))[:, None, :] + joint
    return (wins * curve.value).sum((1, 2)) - prior / 2 * (strengths**2).sum(1), gradient, curvature


def _climb(
    strengths: np.ndarray, step: np.ndarray, value: np.ndarray, wins: np.ndarray, link: Link, prior: np.ndarray
) -> np.ndarray:
    """Take the full step where it helps, else a half, a quarter and so on: the likelihood never falls."""
    length = np.ones(len(step))
    for _ in range(HALVINGS):
        ahead = strengths + length[:, None] * step
        worse = _likelihood(ahead, wins, link, prior)[0] < value - 1e-12 * np.abs(value)
        if not worse.any():
            return ahead
        length = np.where(worse, length / 2, length)
    return np.where(worse[:, None], strengths, ahead)


def fit_ratios(ratios: Float64[np.ndarray, "*draws models models"]) -> Float64[np.ndarray, "*draws models"]:
    """Return the paper's fit, with a prior only in draws whose missing subsets would let strengths grow without end."""
    draws = ratios.reshape(-1, *ratios.shape[-2:])
    prior = np.array([PRIOR if separable(draw) else 0.0 for draw in draws])
    return fit(draws, prior=prior).reshape(ratios.shape[:-1])


def perron(ratios: Float64[np.ndarray, "models models"]) -> Float64[np.ndarray, " models"]:
    """Return the logarithm of a positive ratio matrix's leading eigenvector, mean 0; NaN where an entry is missing."""
    if np.isnan(ratios).any():
        return np.full(len(ratios), np.nan)
    values, vectors = np.linalg.eig(ratios)
    strengths = np.log(np.abs(vectors[:, values.real.argmax()].real))
    return strengths - strengths.mean()


def geometric(ratios: Float64[np.ndarray, "models models"]) -> Float64[np.ndarray, " models"]:
    """Return row means of the logarithms, mean 0: the least-squares answer, over the entries that are there."""
    strengths = np.nanmean(np.log(ratios), axis=1)
    return strengths - strengths.mean()


def separable(weights: Float64[np.ndarray, "models models"]) -> bool:
    """Tell whether some models win or lose every comparison with the rest, so that maximum likelihood has no end."""
    pieces, _ = connected_components(np.nan_to_num(weights) > 0, directed=True, connection="strong")
    return bool(pieces > 1)


def check_connected(weights: Float64[np.ndarray, "models models"], names: Sequence[str]) -> None:
    """Refuse to rank models that no chain of comparisons joins, and say which they are."""
    off = ~np.eye(len(names), dtype=bool)
    pieces, piece = connected_components((np.nan_to_num(weights) > 0) & off, directed=False)
    if pieces > 1:
        parts = [
            ", ".join(name for name, own in zip(names, piece, strict=True) if own == part) for part in range(pieces)
        ]
        raise BadInput(
            f"cannot rank: no image compares {' with '.join(f'[{part}]' for part in parts)}; judge images that do"
        )


def places(strengths: Float64[np.ndarray, "*draws models"]) -> np.ndarray:
    """Return the rank of each model, 1 = strongest; equal strengths share the better rank."""
    return (strengths[..., None, :] > strengths[..., :, None]).sum(-1) + 1
