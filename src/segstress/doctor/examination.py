"""Before a run: every model looked at on two images of every dataset, at most twenty passes together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import torch
from torch import Tensor, nn

from ..core import BadInput, Batch, Perturbation, Spec, perturbations
from ..data import datasets, readable, stack
from ..models import models, ready
from ..planning.plan import Plan
from .flag import Diagnosis, Flag
from .folding import judge_folding
from .gradients import judge_gradients
from .inputs import judge_inputs
from .outputs import judge_company, judge_outputs, judge_repetition
from .watching import watch

SAMPLES = 2  # images looked at


def examine(plan: Plan) -> list[Diagnosis]:
    """Look at each model on each dataset; what does not fit together at all is refused."""
    numerics = plan.numerics
    networks = ((model, ready(model, numerics.device, numerics.torch_dtype())[0]) for model in plan.models)
    return [diagnosis for model, network in networks for diagnosis in examine_model(plan, model, network)]


def examine_model(plan: Plan, model: Spec, network: nn.Module) -> list[Diagnosis]:
    """Look at one model on each dataset."""
    how = {"attacked": bool(_attacks(plan)), "folded": plan.numerics.fold}
    label, diagnoses = models.build(model).label, []
    for source in map(datasets.build, plan.data):
        flags: dict[str, Flag] = {}
        for sample in islice(readable(source, plan.ids(source)), SAMPLES):
            batch = stack([sample]).to(plan.numerics.device, plan.numerics.torch_dtype())
            for flag in diagnose(network, batch, len(source.classes), label, **how):
                flags.setdefault(flag.name, flag)
        diagnoses.append(Diagnosis(label, source.label, tuple(flags.values())))
    return diagnoses


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
) -> list[Flag]:
    """The flags of one image, causes first; ten forward passes and one backward."""
    logits, flags = watch(model, batch.images)
    if logits is None:
        return flags
    _check_shape(logits, batch.images, classes, name)
    if not torch.isfinite(logits).all():
        return [*flags, _not_finite(logits)]
    with torch.no_grad():
        flags += judge_repetition(logits, model(batch.images))
    if not flags:  # a model that changes from call to call cannot be compared further
        flags += judge_company(model, batch.images, logits)
    flags += judge_outputs(logits)
    if attacked:
        flags += judge_gradients(model, batch.images)
    if attacked and folded:
        flags += judge_folding(model, batch.images)
    return flags + judge_inputs(model, batch, logits)


def _attacks(plan: Plan) -> list[Perturbation]:
    return [change for change in plan.changes() if change.threat is not None]


def _looks_once(attack: Perturbation) -> bool:
    """Whether it searches without averaging several passes, so that a random model would fool it."""
    plain = perturbations.spec(attack)
    return bool(plain.get("draws", 1) == 1 and plain.get("algorithm", {}).get("kind") != "transfer")


def _check_shape(logits: Tensor, images: Tensor, classes: int, name: str) -> None:
    if logits.ndim != 4 or logits.shape[-2:] != images.shape[-2:]:
        height, width = images.shape[-2:]
        raise BadInput(f"model {name}: expected logits (b, classes, {height}, {width}), found {tuple(logits.shape)}")
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
