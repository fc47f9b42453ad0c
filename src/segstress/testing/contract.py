"""What every attack must keep; `check_attack` is public, for authors of plug-ins."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from ..attacks import Algorithm, attacks
from ..attacks.search.feasible import norms
from ..core import Batch, perturbations, regions, uniform
from ..metrics.counts import predict
from .settings import check_settings
from .smallness import check_finds_small, check_orders_thresholds, check_tells_failure
from .toys import linear_model, smallest_radius, toy_batch, toy_model
from .trial import RADIUS, attack_of, perturb, remaining

Check = Callable[[Algorithm], None]


def check_attack(algorithm: Algorithm | str) -> None:
    """Run every check, one after the other; the first that fails raises AssertionError and says why."""
    built = attacks.build(algorithm) if isinstance(algorithm, str) else algorithm
    for check in checks_of(built):
        check(built)


def checks_of(algorithm: Algorithm) -> tuple[Check, ...]:
    """Choose those that apply: more where it seeks smallness or says what it reaches, fewer where it keeps one."""
    kept = getattr(algorithm, "keep", "best") == "best"
    common = CHECKS if kept else tuple(check for check in CHECKS if check is not check_returns_best)
    if algorithm.seeks == "smallness":
        reaching = (check_finds_small,) if algorithm.reaches is not None else ()
        return (*common, *SMALLNESS_CHECKS, *reaching)
    return (*common, check_reaches) if algorithm.reaches is not None else common


def check_stays_inside(algorithm: Algorithm) -> None:
    """Check that box and ball hold, in both norms."""
    model = toy_model()
    batch = toy_batch(model)
    for norm, radius in (("linf", RADIUS), ("l2", 20 * RADIUS)):
        for result in perturb(attack_of(algorithm, radius, norm), model, batch).results:  # type: ignore[arg-type]
            assert result.images.min() >= 0, f"{norm}: pixels below 0"
            assert result.images.max() <= 1, f"{norm}: pixels above 1"
            measured = norms(result.images - batch.images)[norm]
            assert (measured <= radius + 1e-9).all(), f"{norm}: delta of length {measured.max()} in a ball of {radius}"
            assert torch.allclose(result.size.double(), measured, atol=1e-9), f"{norm}: size is not the delta's length"


def check_stays_in_region(algorithm: Algorithm) -> None:
    """Check that not one bit changes outside the region, and something does inside."""
    model = toy_model()
    batch = toy_batch(model)
    region = regions.build({"kind": "box", "height": 6, "width": 6})
    for result in perturb(attack_of(algorithm, region=region), model, batch).results:
        changed = (result.images != batch.images).any(1)
        assert not (changed & ~region.mask(batch, 0)).any(), "pixels changed outside the region"
        assert changed.any(), "nothing changed inside the region"


def check_harms(algorithm: Algorithm) -> None:
    """Check that fewer pixels are right than on the clean image, and than under ten random deltas of the ball.

    One that seeks smallness aims at a border that may lie outside the ball, so it may go as far as it likes."""
    model = toy_model()
    batch = toy_batch(model)
    draws = [uniform(batch.images, batch.ids, 0, f"harm-{number}").sign() for number in range(10)]
    chance = torch.stack([remaining(model, batch, (batch.images + RADIUS * draw).clamp(0, 1)) for draw in draws])
    clean = remaining(model, batch, batch.images)
    for result in perturb(attack_of(algorithm), model, batch).results:
        assert (remaining(model, batch, result.images) <= clean).all(), f"worse than clean for goal {result.goal}"
    before = torch.minimum(clean, chance.amin(0))
    radius = RADIUS if algorithm.seeks == "damage" else math.inf
    result = perturb(attack_of(algorithm, radius), model, batch).results[0]
    after = remaining(model, batch, result.images)
    assert (after < before).all(), f"no more harm than chance: {before.tolist()} -> {after.tolist()} pixels right"


def _watch(batch: Batch, seen: list[int], _: nn.Module, inputs: tuple[Tensor], logits: Tensor) -> None:
    """Note how many pixels are right, of iterates inside the ball."""
    if norms(inputs[0] - batch.images)["linf"].max() <= RADIUS + 1e-9:
        seen.append(int(((predict(logits.detach()) == batch.labels) & batch.valid).sum()))


def check_returns_best(algorithm: Algorithm) -> None:
    """Check that no iterate inside the ball was better than what is returned."""
    model = toy_model()
    whole = toy_batch(model)
    for index in range(len(whole)):
        batch = whole.pick([index])
        seen: list[int] = []

        handle = model.register_forward_hook(partial(_watch, batch, seen))
        result = perturb(attack_of(algorithm), model, batch).results[0]
        handle.remove()
        returned = int(remaining(model, batch, result.images))
        assert returned == min(seen), f"returned {returned} pixels right, but saw an iterate with {min(seen)}"


def check_ignores_void(algorithm: Algorithm) -> None:
    """Check that relabelling void pixels changes nothing."""
    model = toy_model()
    batch = toy_batch(model)
    other = replace(batch, labels=torch.where(batch.valid, batch.labels, 1))
    one, two = (perturb(attack_of(algorithm), model, shown).results[0].images for shown in (batch, other))
    assert torch.equal(one, two), "labels under void changed the result"


def check_repeats(algorithm: Algorithm) -> None:
    """Check that the same seed gives the same delta."""
    model = toy_model()
    batch = toy_batch(model)
    one, two = (perturb(attack_of(algorithm), model, batch, seed=7).results[0].images for _ in range(2))
    assert torch.equal(one, two), "two runs with one seed differ"


def check_alone_as_in_batch(algorithm: Algorithm) -> None:
    """Check that an image's result does not depend on its neighbours."""
    model = toy_model()
    batch = toy_batch(model)
    together = perturb(attack_of(algorithm), model, batch)
    for index in range(len(batch)):
        alone = perturb(attack_of(algorithm), model, batch.pick([index]))
        for one, many in zip(alone.results, together.results, strict=True):
            apart = float((one.images[0] - many.images[index]).abs().max())
            assert apart <= 1e-9, f"image {index} alone and in a batch differ by {apart} for goal {one.goal}"
        assert int(alone.forwards[0]) == int(together.forwards[index]), "passes depend on the batch"


def check_advances_once_a_look(algorithm: Algorithm) -> None:
    """Check that several draws of a model that is not random give what one gives, also where a loss keeps state."""
    model = toy_model()
    batch = toy_batch(model).pick([0])
    once, often = (perturb(attack_of(algorithm, draws=draws), model, batch) for draws in (1, 4))
    for one, many in zip(once.results, often.results, strict=True):
        apart = float((one.images - many.images).abs().max())
        assert apart <= 1e-9, f"1 and 4 draws of a deterministic model differ by {apart} for goal {one.goal}"


def check_leaves_model(algorithm: Algorithm) -> None:
    """Check that weights, gradients and mode stay."""
    model = toy_model()
    before = copy.deepcopy(model.state_dict())
    perturb(attack_of(algorithm), model, toy_batch(model))
    assert not model.training, "the model was put into train mode"
    assert all(parameter.grad is None for parameter in model.parameters()), "gradients were left on the weights"
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items()), "weights changed"


def check_is_data(algorithm: Algorithm) -> None:
    """Check that settings survive JSON and pickle, and the docstring cites a paper."""
    check_settings(attacks, algorithm)
    check_settings(perturbations, attack_of(algorithm))
    assert re.search(r"arXiv:\d{4}\.\d{4,5}|doi", type(algorithm).__doc__ or ""), "the docstring cites no paper"


def check_keeps_budget(algorithm: Algorithm) -> None:
    """Check that passes stay within what it declares, counted by the model itself."""
    model = toy_model()
    batch = toy_batch(model).pick([0])
    calls = []
    handle = model.register_forward_hook(lambda *_: calls.append(1))
    perturbed = perturb(attack_of(algorithm), model, batch)
    handle.remove()
    forwards, backwards = attack_of(algorithm).passes()
    assert int(perturbed.forwards[0]) == len(calls), f"counted {int(perturbed.forwards[0])} forwards, made {len(calls)}"
    assert len(calls) <= forwards, f"{len(calls)} forwards, declared {forwards}"
    assert int(perturbed.backwards[0]) <= backwards, f"{int(perturbed.backwards[0])} backwards, declared {backwards}"


def check_reaches(algorithm: Algorithm) -> None:
    """Check that it breaks the two-class linear model at the declared multiple of the optimal radius."""
    assert algorithm.reaches is not None, "it declares nothing; leave this check out"
    model = linear_model()
    batch = toy_batch(model, wide=False)
    for index, radius in enumerate(smallest_radius(model, batch, 0.99).tolist()):
        image = batch.pick([index])
        result = perturb(attack_of(algorithm, algorithm.reaches * radius), model, image).results[0]
        allowed = int(image.valid.sum()) - math.ceil(0.99 * int(image.valid.sum()))
        left = int(remaining(model, image, result.images))
        assert left <= allowed, f"{left} pixels right at {algorithm.reaches} times the optimum, {allowed} allowed"


CHECKS: tuple[Check, ...] = (  # what holds for every attack
    check_stays_inside,
    check_stays_in_region,
    check_harms,
    check_returns_best,
    check_ignores_void,
    check_repeats,
    check_alone_as_in_batch,
    check_advances_once_a_look,
    check_leaves_model,
    check_is_data,
    check_keeps_budget,
)
SMALLNESS_CHECKS = (check_orders_thresholds, check_tells_failure)
