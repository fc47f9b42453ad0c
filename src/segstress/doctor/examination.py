"""Before a run: every model looked at on a few images of every dataset; what was checked is kept with the flags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

import torch
from torch import Tensor, nn

from ..core import BadInput, Batch, Perturbation, Spec, perturbations
from ..data import Dataset, datasets, readable, stack
from ..models import models, ready
from ..planning.plan import Plan
from .flag import Diagnosis, Flag
from .folding import judge_folding
from .gradients import judge_gradients
from .outputs import judge_company, judge_outputs, judge_repetition
from .patient import CHECKS as SEEING
from .patient import judge_patient
from .watching import watch

SAMPLES = 2  # images looked at closely
LOOKED = 4  # images on which it must see
CHECKS = ("mode and state", "determinism", "batch", "outputs", "gradients", *SEEING)


def examine(plan: Plan) -> list[Diagnosis]:
    """Look at each model on each dataset; what does not fit together at all is refused."""
    numerics = plan.numerics
    networks = ((model, ready(model, numerics.device, numerics.torch_dtype())[0]) for model in plan.models)
    return [diagnosis for model, network in networks for diagnosis in examine_model(plan, model, network)]


def examine_model(plan: Plan, model: Spec, network: nn.Module) -> list[Diagnosis]:
    """Look at one model on each dataset."""
    label = models.build(model).label
    return [_examine(plan, label, network, source) for source in map(datasets.build, plan.data)]


def _examine(plan: Plan, label: str, network: nn.Module, source: Dataset) -> Diagnosis:
    how = {"attacked": bool(_attacks(plan)), "folded": plan.numerics.fold}
    samples = islice(readable(source, plan.ids(source)), LOOKED)
    batches = [stack([sample]).to(plan.numerics.device, plan.numerics.torch_dtype()) for sample in samples]
    flags: dict[str, Flag] = {}
    checked = set(CHECKS if batches else ())
    with _counted(network) as passes:
        for batch in batches[:SAMPLES]:
            raised, looked_at = diagnose(network, batch, len(source.classes), label, **how)
            checked &= looked_at
            flags |= {flag.name: flag for flag in raised if flag.name not in flags}
        if "outputs" in checked and any(bool(batch.valid.any()) for batch in batches):
            checked |= set(SEEING)
            flags |= {flag.name: flag for flag in judge_patient(network, batches, source.classes)}
    done, left = (tuple(name for name in CHECKS if (name in checked) == wanted) for wanted in (True, False))
    return Diagnosis(label, source.label, tuple(flags.values()), done, left, sum(passes))


@contextmanager
def _counted(network: nn.Module) -> Iterator[list[int]]:
    """Count the images of every forward pass."""
    passes: list[int] = []
    handle = network.register_forward_pre_hook(lambda _, inputs: passes.append(len(inputs[0])))
    try:
        yield passes
    finally:
        handle.remove()


def admit(plan: Plan, diagnoses: Sequence[Diagnosis]) -> None:
    """Refuse a plan whose figures would mean nothing."""
    attacks = _attacks(plan)
    backwards = [attack.passes()[1] for attack in attacks]
    single = [attack for attack in attacks if _looks_once(attack)]
    fatal = {"train-mode"} | ({"no-gradient"} if any(backwards) else set()) | ({"stochastic"} if single else set())
    for diagnosis in diagnoses:
        for flag, line in zip(diagnosis.flags, diagnosis.lines(), strict=True):
            if flag.name in fatal:
                raise BadInput(line)


def diagnose(
    model: nn.Module, batch: Batch, classes: int, name: str, *, attacked: bool, folded: bool = False
) -> tuple[list[Flag], set[str]]:
    """Return the flags of one image, causes first; ten forward passes and one backward."""
    logits, flags = watch(model, batch.images, f"model {name}")
    checked = {"mode and state"}
    if logits is None:
        return flags, checked
    _check_shape(logits, batch.images, classes, name)
    if not torch.isfinite(logits).all():
        return [*flags, _not_finite(logits)], checked
    checked |= {"determinism", "outputs"}
    with torch.no_grad():
        flags += judge_repetition(logits, model(batch.images))
    if not flags:  # a model that changes from call to call cannot be compared further
        flags += judge_company(model, batch.images, logits)
        checked.add("batch")
    flags += judge_outputs(logits)
    if attacked:
        flags += judge_gradients(model, batch.images)
        checked.add("gradients")
    if attacked and folded:
        flags += judge_folding(model, batch.images)
    return flags, checked


def _attacks(plan: Plan) -> list[Perturbation]:
    return [change for change in plan.changes() if change.threat is not None]


def _looks_once(attack: Perturbation) -> bool:
    """Tell whether it searches without averaging several passes, so that a random model would fool it."""
    plain = perturbations.spec(attack)
    return bool(plain.get("draws", 1) == 1 and plain.get("algorithm", {}).get("kind") != "transfer")


def _check_shape(logits: Tensor, images: Tensor, classes: int, name: str) -> None:
    if logits.ndim != 4 or logits.shape[-2:] != images.shape[-2:]:
        height, width = images.shape[-2:]
        raise BadInput(f"model {name}: expected logits (b, classes, {height}, {width}), found {tuple(logits.shape)}")
    if not classes:
        raise BadInput(
            f"model {name}: the dataset has no classes, since it is a pool of unlabelled images for segstress mad; "
            "expected labelled images, e.g. folder:path?classes=11&ignore=255"
        )
    if logits.shape[1] != classes:
        raise BadInput(
            f"model {name}: gives {logits.shape[1]} classes, the data has {classes}; "
            "choose the matching dataset, or drop outputs with drop_outputs"
        )


def _not_finite(logits: Tensor) -> Flag:
    share = 1 - float(torch.isfinite(logits).double().mean())
    return Flag(
        "not-finite",
        f"{share:.0%} of the outputs are not numbers (NaN or infinite)",
        "images with such outputs are missing from every figure",
        "look for overflow, division by zero or the logarithm of zero in the model",
    )
