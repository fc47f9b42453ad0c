"""Networks that a Python user hands over as they are, told apart by what they are made of."""

from __future__ import annotations

import copy
import hashlib
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar
from weakref import WeakValueDictionary

import torch
from torch import nn

from ..core import BadInput, settings
from .model import Model, first_line, forget, models, readable

_lent: WeakValueDictionary[str, nn.Module] = WeakValueDictionary()  # the networks of this process, by their hash


@models.register("memory")
@settings
class Memory(Model):
    """A network of this Python process: what `segstress.evaluate(model, data)` calls the module that it is given."""

    positional: ClassVar = "title"
    title: str = "model"
    content: str = ""  # hash of its tensors, its structure and the source of its classes

    @property
    def label(self) -> str:
        """Its title."""
        return readable(self.title)

    def network(self) -> nn.Module:
        """Return the user's own module, not a copy."""
        network = _lent.get(self.content)
        if network is None:
            raise BadInput(
                f"model memory:{self.title} lives in the Python process that evaluated it and is not here; "
                "hand the module over again with segstress.evaluate(model, data, out=...)"
            )
        if content_of(network) != self.content:
            raise BadInput(f"model memory:{self.title} has changed since it was handed over; evaluate it anew")
        return network


def lend(network: nn.Module, title: str = "") -> Memory:
    """Make settings that stand for a module as long as it lives, in this process only."""
    content = content_of(network)
    _lent[content] = network
    return Memory(title=title or type(network).__name__, content=content)


def frozen_twin(network: nn.Module) -> nn.Module:
    """Return a module that shares every tensor with the user's and is frozen, in eval mode; theirs stays as it is."""
    shared: dict[int, object] = {id(tensor): nn.Parameter(tensor.detach(), False) for tensor in network.parameters()}
    shared |= {id(tensor): tensor for tensor in network.buffers()}
    try:
        return copy.deepcopy(network, shared).requires_grad_(False).eval()
    except Exception as error:  # whatever the parts of a module raise
        raise BadInput(
            f"model: {type(network).__name__} cannot be set apart from yours: {first_line(error)}; use "
            "segstress.evaluate, which gives it back as it was"
        ) from error


@contextmanager
def given_back(*given: nn.Module) -> Iterator[None]:
    """Leave these modules and all handed over before as they came: modes of their parts, parameters to be trained."""
    networks = [*_lent.values(), *given]
    modes = [(module, module.training) for network in networks for module in network.modules()]
    trained = [(tensor, tensor.requires_grad) for network in networks for tensor in network.parameters()]
    try:
        yield
    finally:
        forget()
        for module, training in modes:
            module.training = training
        for tensor, requires_grad in trained:
            tensor.requires_grad_(requires_grad)


def content_of(network: nn.Module) -> str:
    """Hash all that decides what a module answers.

    Tensors, structure (as it prints itself), code of its classes."""
    hashed = hashlib.blake2b(re.sub("0x[0-9a-f]+", "", repr(network)).encode(), digest_size=32)
    classes = {type(module) for module in network.modules() if not type(module).__module__.startswith("torch.")}
    for text in sorted(map(_source, classes)):
        hashed.update(text.encode())
    for name, tensor in sorted(network.state_dict().items()):
        if tensor.is_meta:
            raise BadInput("model: expected weights, found a module on the meta device; load them first")
        hashed.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        hashed.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return f"net-{hashed.hexdigest()[:16]}"


def _source(kind: type) -> str:
    """Return the code of a class; where it was typed and is gone, what Python made of its functions."""
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        functions = (value for value in vars(kind).values() if inspect.isfunction(value))
        return kind.__qualname__ + "".join(
            f"{function.__name__} {function.__code__.co_code.hex()} {function.__code__.co_names}"
            for function in functions
        )
