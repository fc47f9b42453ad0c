"""One model tried out on a few images before it is put into a plan: loaded, passed, timed, looked at by the doctor."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from statistics import median

import torch
import yaml
from torch import Tensor

from ..core import BadInput, Spec
from ..core.system import peak_memory
from ..data import Dataset, Sample, readable
from ..data import load as load_data
from ..doctor import Flag
from ..models import Interface, Legend, Model, Segmenter, forget, models, ready
from ..models.loading import Loaded, loading_reports
from ..models.sizes import size_rule
from ..planning.plan import numbered
from ..runtime import Numerics
from .checkup import check_up


@dataclass(frozen=True)
class PassCost:
    """What one pass of one image costs."""

    seconds: float  # median over the images
    peak_bytes: int  # most memory so far: of the process, on CUDA of the device


@dataclass(frozen=True)
class ModelCheck:
    """All that is to be known of a model before it is stressed."""

    model: str  # label
    data: str
    weights: tuple[Loaded, ...]  # what became of every tensor, for each file
    parameters: int
    interface: Interface
    sees: tuple[float, float]  # what the network gets for images in [0, 1], least and most
    sizes: str
    classes: int
    data_classes: int
    names: str  # of the model's classes beside the data's
    gradient_finite: bool
    gradient_share: float  # of pixels whose gradient is not zero
    loading_bytes: int  # most memory held when the model was loaded
    forward: PassCost
    backward: PassCost  # a forward pass and a backward pass
    flags: tuple[Flag, ...]
    faults: tuple[str, ...]  # why a run would be refused
    plan: str  # the entry of a plan, as YAML

    @property
    def sound(self) -> bool:
        """Whether nothing speaks against a run."""
        return self.gradient_finite and self.gradient_share > 0 and not self.flags and not self.faults


def try_out(model: Spec, data: Spec, images: int = 2, numerics: Numerics | None = None) -> ModelCheck:
    """Load a model, pass a few images forward and backward, and say all that a plan's author should know of it."""
    numerics = numerics or Numerics()
    torch.set_num_threads(numerics.threads)
    forget()  # what this process may have loaded before
    named, source = models.build(model), load_data(data)
    segmenter, _ = ready(named, numerics.device, numerics.torch_dtype())
    loading = _peak(numerics.device)
    looked = [sample.image[None].to(numerics.device, numerics.torch_dtype()) for sample in _some(source, images)]
    logits = _forward(segmenter, looked[0], named.label)
    forward = _cost(lambda image: _forward(segmenter, image, named.label), looked, numerics.device)
    gradient = _gradient(segmenter, looked[0])
    backward = _cost(lambda image: _gradient(segmenter, image), looked, numerics.device)
    flags, faults = _doctor(models.spec(named), data, images, numerics)
    return ModelCheck(
        model=named.label,
        data=source.label,
        weights=tuple(loading_reports(segmenter)),
        parameters=sum(tensor.numel() for tensor in segmenter.parameters()),
        interface=segmenter.interface,
        sees=_range(segmenter, looked[0]),
        sizes=size_rule(segmenter, segmenter.interface) or _try_size(segmenter, looked[0]),
        classes=logits.shape[1],
        data_classes=len(source.classes),
        names=_names(named.legend(), source),
        gradient_finite=bool(gradient.isfinite().all()),
        gradient_share=float((gradient != 0).any(1).double().mean()),
        loading_bytes=loading,
        forward=forward,
        backward=backward,
        flags=flags,
        faults=faults,
        plan=_entry(named),
    )


def _some(source: Dataset, images: int) -> list[Sample]:
    samples = list(islice(readable(source, source.ids()), images))
    if not samples:
        raise BadInput(f"data {source.label}: none of its {len(source)} images can be read")
    return samples


def _forward(segmenter: Segmenter, image: Tensor, label: str) -> Tensor:
    try:
        with torch.no_grad():
            return segmenter(image)
    except BadInput:
        raise
    except Exception as error:
        line = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise BadInput(f"model {label}: fails on an image {tuple(image.shape[1:])}: {line}") from error


def _gradient(segmenter: Segmenter, image: Tensor) -> Tensor:
    """Return the gradient of a loss that is nowhere flat; zeros where none reaches the image."""
    leaf = image.clone().requires_grad_()
    with torch.enable_grad():
        logits = segmenter(leaf)
    if not logits.requires_grad:
        return torch.zeros_like(image)
    (gradient,) = torch.autograd.grad(logits.logsumexp(1).sum() - logits.sum(), leaf, allow_unused=True)
    return torch.zeros_like(image) if gradient is None else gradient


def _cost(look: Callable[[Tensor], Tensor], images: Sequence[Tensor], device: str) -> PassCost:
    seconds = []
    for image in images:
        started = time.perf_counter()
        look(image).sum().item()  # waits for a device that works on its own
        seconds.append(time.perf_counter() - started)
    return PassCost(median(seconds), _peak(device))


def _peak(device: str) -> int:
    return torch.cuda.max_memory_allocated(device) if device.startswith("cuda") else peak_memory()


def _range(segmenter: Segmenter, image: Tensor) -> tuple[float, float]:
    channels = image.shape[1]
    ends = torch.stack([segmenter.normalise(image.new_full((1, channels, 1, 1), end)) for end in (0.0, 1.0)])
    return float(ends.min()), float(ends.max())


def _try_size(segmenter: Segmenter, image: Tensor) -> str:
    """Look at the image without its last row and column."""
    smaller = image[..., : max(1, image.shape[-2] - 1), : max(1, image.shape[-1] - 1)]
    tried = f"{smaller.shape[-2]} x {smaller.shape[-1]}"
    try:
        with torch.no_grad():
            segmenter(smaller)
    except Exception as error:  # noqa: BLE001 - whatever it says is the answer
        return f"not any: {tried} is refused ({str(error).partition(chr(10))[0]}); pad= or window= may help"
    return f"any, it seems: {tried} is answered too"


def _names(legend: Legend | None, source: Dataset) -> str:
    """Compare the model's class names with the data's, where the model tells any."""
    if legend is None:
        return "the data's; the model tells none"
    if numbered(source):
        return f"the model's ({', '.join(legend.names[:3])} ...); the data has numbers only"
    pairs = list(enumerate(zip(legend.names, source.classes, strict=False)))
    other = next(
        (f"{position} is '{mine}', the data's '{yours}'" for position, (mine, yours) in pairs if mine != yours), ""
    )
    return f"the model's class {other}" if other else "as the data's"


def _doctor(model: Spec, data: Spec, images: int, numerics: Numerics) -> tuple[tuple[Flag, ...], tuple[str, ...]]:
    """Let the doctor look; what it refuses as a whole is a fault."""
    how = {"device": numerics.device, "threads": numerics.threads, "dtype": numerics.dtype}
    try:
        (diagnosis,) = check_up(quick=True, models=[model], data=[data], limit=images, numerics=how)
    except BadInput as error:
        return (), (str(error),)
    return diagnosis.flags, ()


def _entry(model: Model) -> str:
    """Write a model as a plan has it, without what is a default anyway."""
    entry = models.spec(model)
    kept = ("kind", getattr(model, "positional", "name"))
    for key in [key for key in entry if key not in kept]:
        shorter = {other: value for other, value in entry.items() if other != key}
        with suppress(BadInput):  # a setting that must be given
            entry = shorter if models.build(shorter) == model else entry
    return yaml.safe_dump({"models": [entry]}, sort_keys=False)
