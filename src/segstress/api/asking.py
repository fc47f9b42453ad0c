"""From what a Python user has in hand, models and images in memory among it, to the specs of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from ..core import BadInput, Spec
from ..data import Dataset, datasets, readable, wrap
from ..data import load as load_spec
from ..data.wrapped import Wrapped
from ..doctor.watching import watch
from ..models import Model, Segmenter, models
from ..models import load as load_network
from ..models.memory import frozen_twin, lend
from ..planning.plan import Plan
from ..planning.reading import checked

DTYPES = {torch.float32: "float32", torch.float64: "float64"}
NUMERICS = (
    "device",
    "batch_size",
    "threads",
    "dtype",
    "fold",
    "channels_last",
)  # settings that may stand beside those of a plan


def load_model(model: nn.Module | Spec, **interface: Any) -> Segmenter:
    """Load a model by its spec, or put a module of yours behind the same interface: frozen, logits at image size.

    A module's tensors are shared, not copied, and the module itself stays as it is: in its mode, to be trained.
    Settings such as upsample="bilinear" or mean=(0.5,) say what it expects and gives."""
    if isinstance(model, nn.Module):
        settings = models.build({"kind": "memory", **interface})
        return Segmenter(frozen_twin(model), settings.interface()).requires_grad_(False).eval()
    return load_network(model_settings(model, "", interface))


def load_data(
    data: Any,
    *,
    classes: int | Sequence[str] | None = None,
    ignore: int | Sequence[int] | None = 255,
) -> Dataset:
    """Return a dataset by its spec, or one of yours: a torch dataset, pairs (image, mask), two tensors."""
    return load_spec(data) if _is_spec(data) else wrap(data, classes=classes, ignore=ignore)


def model_settings(model: nn.Module | Spec, name: str, interface: Mapping[str, Any]) -> Model:
    """Return the settings that stand for a model in a plan."""
    if isinstance(model, nn.Module):
        lent = lend(model, name)
        return models.build({"kind": "memory", "title": lent.title, "content": lent.content, **interface})
    if not isinstance(model, str | Mapping):
        raise BadInput(
            f"model: expected a torch.nn.Module or a spec such as 'compact:cnn', found {type(model).__name__}"
        )
    return models.build({**models.read(model), **interface})


def data_settings(
    data: Any,
    model: Model | None = None,
    classes: int | Sequence[str] | None = None,
    ignore: int | Sequence[int] | None = 255,
    resize: str | None = None,
) -> Dataset:
    """Return the settings that stand for images in a plan.

    Where nobody says how many classes there are, the model does."""
    if _is_spec(data):
        return load_spec({**datasets.read(data), "resize": resize} if resize else data)
    made = wrap(data, classes=classes, ignore=ignore, resize=resize)
    if isinstance(made, Wrapped) and not made.classes and model is not None:
        counted = replace(made, classes=_outputs(model, made))
        counted.check()
        return counted
    return made


def _is_spec(data: Any) -> bool:
    return isinstance(data, str) or (isinstance(data, Mapping) and "kind" in data)


def _outputs(model: Model, data: Dataset) -> Any:
    """Tell how many classes a model gives, seen on the first image that can be read."""
    network = load_network(model)
    device, dtype = place_of(network)
    for sample in readable(data, data.ids()):
        name = f"model {model.label}"
        logits, flags = watch(network, sample.image[None].to(device, dtype), name)
        if logits is None:
            raise BadInput(f"{name}: {flags[0].seen}; {flags[0].advice}")
        return int(logits.shape[1])
    raise BadInput(f"data: none of its {len(data)} images can be read; {_first_fault(data)}")


def _first_fault(data: Dataset) -> str:
    try:
        data.read(data.ids()[0])
    except BadInput as error:
        return str(error)
    return "they are refused when they are resized"


def place_of(network: nn.Module) -> tuple[torch.device, torch.dtype]:
    """Tell where a module lies, and its precision; refused where it has no single one."""
    tensors = [tensor for tensor in network.parameters() if tensor.is_floating_point()]
    devices, dtypes = {tensor.device for tensor in tensors}, {tensor.dtype for tensor in tensors}
    if len(devices) > 1 or len(dtypes) > 1:
        several = ", ".join(sorted(map(str, devices if len(devices) > 1 else dtypes)))
        raise BadInput(f"model: expected all its parameters in one place and precision, found {several}")
    device, dtype = next(iter(devices), torch.device("cpu")), next(iter(dtypes), torch.float32)
    if dtype not in DTYPES:
        raise BadInput(f"model: expected float32 or float64 weights, found {dtype}; hand over model.float()")
    return device, dtype


def plan_of(model: nn.Module | Spec, given: Model, data: Dataset, changes: Mapping[str, Any]) -> Plan:
    """Return one model on one dataset; a module of yours is attacked where it lies, in its own precision."""
    settings = {key: value for key, value in changes.items() if key not in NUMERICS and value is not None}
    numerics = {**settings.pop("numerics", {}), **{key: changes[key] for key in NUMERICS if key in changes}}
    if isinstance(model, nn.Module):
        device, dtype = place_of(model)
        wanted = torch.device(numerics.setdefault("device", str(device)))
        if wanted.type != device.type or (wanted.index or 0) != (device.index or 0):
            raise BadInput(f"model: lies on {device}, and device={wanted} is asked for; move one to the other")
        if numerics.setdefault("dtype", DTYPES[dtype]) != DTYPES[dtype]:
            raise BadInput(f"model: has {dtype} weights, and dtype={numerics['dtype']} is asked for; convert it first")
    specs = {"models": [models.spec(given)], "data": [datasets.spec(data)]}
    return checked(Plan, {**specs, **settings, "numerics": numerics}, "plan")


def attack_list(attack: str | Sequence[Spec] | None) -> list[Spec]:
    """Return attacks by name, with commas between them, or a list of specs."""
    if isinstance(attack, str):
        return list(attack.split(","))
    return [] if attack is None else list(attack)
