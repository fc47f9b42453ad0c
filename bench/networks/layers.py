"""What the networks are made of."""

from __future__ import annotations

from torch import Tensor, nn

CLASSES = 11  # of CamVid, without void


def convolution(inputs: int, outputs: int, kernel: int | tuple[int, int] = 1, **settings: int) -> nn.Conv2d:
    """Without bias, keeping the size."""
    sides = (kernel, kernel) if isinstance(kernel, int) else kernel
    padding = tuple((side - 1) // 2 * settings.get("dilation", 1) for side in sides)
    return nn.Conv2d(inputs, outputs, kernel, padding=padding, bias=False, **settings)


class Active(nn.Module):
    """A convolution, batch normalisation and PReLU; without a layer the last two only."""

    def __init__(self, channels: int, layer: nn.Module | None = None) -> None:
        super().__init__()
        self.layer = layer
        self.norm, self.activate = nn.BatchNorm2d(channels, eps=1e-3), nn.PReLU(channels)

    def forward(self, features: Tensor) -> Tensor:
        return self.activate(self.norm(features if self.layer is None else self.layer(features)))
