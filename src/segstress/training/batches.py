"""Batches for training: their order depends on seed and epoch, their pixels on the image's id as well."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import torch

from ..core import BadInput, Batch, stream
from ..data import Dataset, Sample, resize
from .augmentation import Augmentation
from .processes import rank, world

AHEAD = 2  # steps that are read while the network is busy
READERS = 2  # threads that read


class Reader:
    """Reads a dataset, keeps what fits, and cuts every epoch into steps."""

    def __init__(self, data: Dataset, augmentation: Augmentation, seed: int, kept: int = 0) -> None:
        self.data, self.augmentation, self.seed = data, augmentation, seed
        self.ids = data.ids()
        self._kept: dict[str, Sample] = {}
        self._room = kept

    def steps(self, epoch: int, batch_size: int, parts: int, skip: int = 0) -> Iterator[list[Batch]]:
        """Yield an epoch's steps but those skipped, as this process's parts of the batch; a rest is left out."""
        order = torch.randperm(len(self.ids), generator=stream(self.seed, "", f"order-{epoch}")).tolist()
        count, size = len(order) // batch_size, batch_size // (parts * world())
        waiting: deque[list[list[Future[Sample]]]] = deque()
        with ThreadPoolExecutor(READERS) as pool:
            for step in range(skip, count):
                first = step * batch_size + rank() * parts * size
                mine = [order[begin : begin + size] for begin in range(first, first + parts * size, size)]
                waiting.append([[pool.submit(self._draw, self.ids[index], epoch) for index in part] for part in mine])
                if len(waiting) > AHEAD:
                    yield [stack([drawn.result() for drawn in part]) for part in waiting.popleft()]
            for mine_of_step in waiting:
                yield [stack([drawn.result() for drawn in part]) for part in mine_of_step]

    def read(self, id: str) -> Sample:
        """Return one image at the size of the dataset's own rule."""
        if id in self._kept:
            return self._kept[id]
        sample = resize(self.data.read(id), self.data.resize)
        if len(self._kept) < self._room:
            self._kept[id] = sample
        return sample

    def _draw(self, id: str, epoch: int) -> Sample:
        sample, cutmix = self._augment(id, epoch), self.augmentation.cutmix
        if cutmix is None:
            return sample
        random = stream(self.seed, id, f"cutmix-{epoch}")
        use, partner = torch.rand(2, generator=random).tolist()
        if use >= cutmix.share:
            return sample
        return cutmix(sample, self._augment(self.ids[int(partner * len(self.ids))], epoch), random)

    def _augment(self, id: str, epoch: int) -> Sample:
        return self.augmentation(self.read(id), stream(self.seed, id, f"augmentation-{epoch}"))


def stack(samples: Sequence[Sample]) -> Batch:
    """Return samples of one size as a batch."""
    sizes = {tuple(sample.labels.shape) for sample in samples}
    if len(sizes) > 1:
        raise BadInput(f"images of one batch differ in size, found {sorted(sizes)[:3]}; set a crop or a resize rule")
    return Batch(
        ids=tuple(sample.id for sample in samples),
        images=torch.stack([sample.image for sample in samples]),
        labels=torch.stack([sample.labels for sample in samples]),
        valid=torch.stack([sample.valid for sample in samples]),
    )
