"""Does it work on this device? The contract of every attack, parity with the CPU in float64, and images a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from ..attacks import attacks
from ..attacks.algorithms.pgd import PGD
from ..core import Batch
from ..data import load as load_data
from ..data import readable, stack
from ..models import load as load_model
from ..models.mixed import Mixed
from .contract import check_attack
from .toys import toys_on
from .trial import attack_of

MODELS = ("compact:cnn-pgd-at-100", "compact:transformer-pgd-at-100")
IMAGES = "shapes:val?count=2"
CLOSE = 1e-9  # logits and deltas in float64, beside those of the CPU
SECONDS = 1.0  # of every figure in the table of speed


@dataclass(frozen=True)
class DeviceCheck:
    """One check and how it came out."""

    what: str
    fault: str  # empty where there is none


@dataclass(frozen=True)
class Speed:
    """Forward and backward passes of one model, by its settings."""

    model: str
    dtype: str
    channels_last: bool
    batch_size: int
    images_per_second: float


def check_contracts(device: str, names: Sequence[str] = ()) -> Iterator[DeviceCheck]:
    """Try every attack on toy problems that lie on the device."""
    for name in names or attacks.names():
        with toys_on(device):
            yield DeviceCheck(f"contract of {name}", _fault(check_attack, name))


def check_parity(device: str) -> Iterator[DeviceCheck]:
    """Compare logits, and the deltas of ten steps of PGD, with those of the CPU, in float64."""
    for spec in MODELS:
        answers = [_answers(spec, where) for where in ("cpu", device)]
        for what, first, second in zip(("logits", "deltas"), *answers, strict=True):
            apart = float((first - second).abs().amax())
            fault = "" if apart <= CLOSE else f"{apart:.2g} apart, expected at most {CLOSE:g}"
            yield DeviceCheck(f"{what} of {spec} in float64 beside the CPU's", fault)


def measure(device: str, sizes: Sequence[int] = (1, 4, 16)) -> Iterator[Speed]:
    """Count forward and backward passes, by dtype, memory order and images per pass."""
    images = _batch(device).images.float()
    for spec in MODELS:
        for channels_last in (False, True):
            network = load_model(spec).to(device)
            if channels_last:
                network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
            for dtype, searched in (("float32", network), ("bfloat16", Mixed(network).eval())):
                for size in sizes:
                    rate = _rate(searched, images[:1].expand(size, -1, -1, -1).contiguous())
                    yield Speed(spec, dtype, channels_last, size, rate)


def _fault(check: Callable[[str], None], name: str) -> str:
    """Return the first line of what a check objects, or nothing.

    A device without a kernel, or with too little memory, raises one of these: an answer, not a reason to stop."""
    try:
        check(name)
    except (AssertionError, ArithmeticError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


def _batch(device: str) -> Batch:
    data = load_data(IMAGES)
    return stack(list(readable(data, data.ids()))).to(device, torch.float64)


def _answers(spec: str, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    network, batch = load_model(spec).to(device, torch.float64), _batch(device)
    with torch.no_grad():
        logits = network(batch.images)
    (result, *_) = attack_of(PGD(steps=10), 8 / 255).perturb(network, batch, 0).results
    return logits.cpu(), (result.images - batch.images).cpu()


def _rate(network: nn.Module, images: torch.Tensor) -> float:
    """Return images a second, after one pass to warm up."""
    images = images.requires_grad_()
    started, done = 0.0, -1
    while done < 1 or time.perf_counter() - started < SECONDS:
        torch.autograd.grad(network(images).sum(), images)[0].sum().item()  # waits for the device
        started = started if done >= 0 else time.perf_counter()
        done += 1
    return done * len(images) / (time.perf_counter() - started)
