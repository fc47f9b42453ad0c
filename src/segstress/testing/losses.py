"""What every loss must keep; `check_loss` is public, for authors of plug-ins."""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from ..attacks.losses import View, losses
from ..attacks.losses.view import Loss
from ..core import stream

CLASSES, SIDE = 4, 6


def check_loss(loss: Loss | str) -> None:
    """Run every check, one after the other; the first that fails raises AssertionError and says why."""
    function = losses.get(loss) if isinstance(loss, str) else loss
    for check in LOSS_CHECKS:
        check(function)


def view_of(*, scale: float = 1.0, seed: int = 0, progress: float = 0.3, targeted: bool = False) -> View:
    """Return two images, a third of their pixels void, of which the model has some right and some wrong."""
    draw = stream(seed, "toy", "logits")
    logits = scale * torch.randn((2, CLASSES, SIDE, SIDE), generator=draw, dtype=torch.float64)
    labels = torch.randint(CLASSES, (2, SIDE, SIDE), generator=draw)
    labels[:, ::2] = logits.argmax(1)[:, ::2]
    aim = torch.rand(labels.shape, generator=draw) < 0.7
    balance = torch.rand(labels.shape, generator=draw, dtype=torch.float64)
    return View(logits.requires_grad_(), labels.masked_fill(~aim, 0), aim, balance, progress, targeted)


def total(loss: Loss, view: View) -> Float[Tensor, " b"]:
    """Return one value an image, as attacks take it: pixels are summed over the aim."""
    values = loss(view)
    return values if values.dim() == 1 else torch.where(view.aim, values, 0).flatten(1).sum(1)


def check_gives_pixels_or_images(loss: Loss) -> None:
    """Check that it gives one value a pixel, or one an image, in the logits' precision; for goals too."""
    for targeted in (False, True):
        view = view_of(targeted=targeted)
        values = loss(view)
        assert values.shape in (view.labels.shape, view.labels.shape[:1]), f"a shape of {tuple(values.shape)}"
        assert values.dtype == view.logits.dtype, f"{values.dtype} from logits of {view.logits.dtype}"


def check_stays_finite(loss: Loss) -> None:
    """Check that value and slope are numbers where logits are huge, equal, or all right, at every time of a run."""
    for scale in (0.0, 1e-6, 1.0, 1e3):
        for progress in (0.0, 0.5, 1.0):
            view = view_of(scale=scale, progress=progress)
            value = total(loss, view)
            (slope,) = torch.autograd.grad(value.sum(), view.logits, allow_unused=True)
            assert value.isfinite().all(), f"{value.tolist()} at logits of scale {scale:g}"
            assert slope is None or slope.isfinite().all(), f"a slope that is no number at logits of scale {scale:g}"


def check_sees_no_void(loss: Loss) -> None:
    """Check that labels and logits outside the aim change nothing, and get no slope."""
    view = view_of()
    other = replace(
        view,
        labels=torch.where(view.aim, view.labels, 1),
        logits=torch.where(view.aim[:, None], view.logits, 3.0).detach().requires_grad_(),
    )
    before, after = total(loss, view), total(loss, other)
    assert torch.allclose(before, after, atol=1e-12), f"void changed it from {before.tolist()} to {after.tolist()}"
    (slope,) = torch.autograd.grad(before.sum(), view.logits)
    assert not slope.movedim(1, -1)[~view.aim].any(), "logits outside the aim have a slope"


def check_leads_away_from_the_label(loss: Loss) -> None:
    """Check that its slope is not zero, and raising it lowers what the label is ahead by where a pixel is right."""
    view = view_of()
    (slope,) = torch.autograd.grad(total(loss, view).sum(), view.logits)
    own = slope.gather(1, view.labels[:, None])[:, 0]
    rivals = slope.gather(1, view.rivals[:, None])[:, 0]
    assert slope.any(), "it has no slope"
    change = (rivals - own)[view.remaining].sum()
    assert change > 0, f"raising it changes the lead of rivals over right labels by {float(change):g}"


def check_knows_no_neighbours(loss: Loss) -> None:
    """Check that an image's value does not depend on the others of its batch."""
    view = view_of()
    together = total(loss, view)
    for index in range(len(together)):
        parts = (view.logits, view.labels, view.aim, view.balance)
        logits, labels, aim, balance = (part[index : index + 1] for part in parts)
        alone = total(loss, View(logits, labels, aim, balance, view.progress, view.targeted))
        apart = float((alone[0] - together[index]).detach().abs())
        assert apart <= 1e-9, f"image {index} alone and in a batch differ by {apart}"


LOSS_CHECKS = (
    check_gives_pixels_or_images,
    check_stays_finite,
    check_sees_no_void,
    check_leads_away_from_the_label,
    check_knows_no_neighbours,
)
