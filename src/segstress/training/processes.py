"""This process among those that train together; without torch.distributed it is the only one."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, distributed


def rank() -> int:
    """Tell which one this is; the first writes the files."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def world() -> int:
    """Tell how many there are."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def total(tensor: Tensor) -> Tensor:
    """Sum every process's tensor."""
    if world() > 1:
        tensor = tensor.clone()
        distributed.all_reduce(tensor)
    return tensor


def add_gradients(parameters: Iterable[Tensor]) -> None:
    """Replace every gradient by its sum over the processes, in one message."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if world() == 1 or not gradients:
        return
    summed = total(torch.cat([gradient.flatten() for gradient in gradients]))
    parts = torch.split(summed, [gradient.numel() for gradient in gradients])
    for gradient, part in zip(gradients, parts, strict=True):
        gradient.copy_(part.view_as(gradient))


def share_first(tensors: Iterable[Tensor]) -> None:
    """Give every process the tensors of the first."""
    if world() > 1:
        for tensor in tensors:
            distributed.broadcast(tensor, src=0)
