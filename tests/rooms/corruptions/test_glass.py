"""The parallel glass blur is the sequential one."""

import pytest
import torch

from segstress.corruptions.glass import one_pass


def sequential(offsets, reach):
    """The published loop: from the last pixel to the first, each copies a neighbour."""
    _, height, width = offsets.shape
    source = torch.arange(height * width).view(height, width)
    for row in range(height - reach, reach, -1):
        for column in range(width - reach, reach, -1):
            down, right = offsets[:, row, column].tolist()
            source[row, column] = source[row + down, column + right]
    return source.flatten()


@pytest.mark.parametrize("reach", [1, 2, 3, 4])
def test_equals_the_loop_on_the_same_draws(reach):
    generator = torch.Generator().manual_seed(reach)
    offsets = torch.randint(-reach, reach, (2, 2, 19, 23), generator=generator)
    wanted = torch.cat([sequential(offsets[0], reach), sequential(offsets[1], reach) + 19 * 23])
    assert torch.equal(one_pass(offsets, reach), wanted)
