"""What every dataset must keep; `check_dataset` is public, for authors of plug-ins."""

from __future__ import annotations

import json

import torch

from ..core import Spec
from ..data import Dataset, datasets
from .settings import check_settings

SEEN = 3  # images that are read


def check_dataset(dataset: Dataset | Spec) -> None:
    """Run every check, one after the other; the first that fails raises AssertionError and says why."""
    built = dataset if isinstance(dataset, Dataset) else datasets.build(dataset)
    built.check()
    check_settings(datasets, built)
    for check in DATASET_CHECKS:
        check(built)


def check_names_its_images(dataset: Dataset) -> None:
    """Check that ids are texts, each there once, and in the same order whenever they are asked for."""
    ids = dataset.ids()
    assert ids, "it has no images"
    assert all(isinstance(id_, str) and id_ for id_ in ids), "an id that is no text"
    assert len(set(ids)) == len(ids), "one id stands for two images"
    assert dataset.ids() == ids, "ids come in another order when asked for again"
    assert _again(dataset).ids() == ids, "ids come in another order when it is built again"


def check_reads_samples(dataset: Dataset) -> None:
    """Check images of three channels in [0, 1], with a label for every pixel, 0 where it is not valid."""
    for id_ in dataset.ids()[:SEEN]:
        sample = dataset.read(id_)
        assert sample.id == id_, f"asked for {id_}, got {sample.id}"
        assert sample.source, "it does not say by a hash where the image came from"
        channels, *sides = sample.image.shape
        assert sample.image.is_floating_point(), f"an image of {sample.image.dtype}"
        assert channels, "an image without channels"
        assert sample.image.min() >= 0, "values below 0"
        assert sample.image.max() <= 1, "values above 1"
        assert list(sample.labels.shape) == list(sample.valid.shape) == sides, "labels of another size than the image"
        assert (sample.labels.dtype, sample.valid.dtype) == (torch.int64, torch.bool), "labels int64, valid bool"
        assert not sample.labels[~sample.valid].any(), "labels under void; they should be 0"
        known = sample.labels[sample.valid]
        assert not known.numel() or known.min() >= 0, "labels below 0"
        assert not known.numel() or known.max() < len(dataset.classes), "labels above the number of classes"


def check_reads_the_same_again(dataset: Dataset) -> None:
    """Check that an image read twice, or from a dataset built again, is the same."""
    for id_ in dataset.ids()[:SEEN]:
        first = dataset.read(id_)
        for other in (dataset.read(id_), _again(dataset).read(id_)):
            assert torch.equal(first.image, other.image), f"{id_} shows something else when read again"
            assert torch.equal(first.labels, other.labels), f"{id_} has other labels when read again"
            assert torch.equal(first.valid, other.valid), f"{id_} has another void when read again"
            assert first.source == other.source, f"{id_} has another hash when read again"


def check_says_what_it_is(dataset: Dataset) -> None:
    """Check its name, void, a colour for each class, a background among them, and a fingerprint that stays."""
    assert dataset.label, "it has no name in tables"
    assert dataset.void, "it does not say how void is marked"
    assert len(dataset.palette) == len(dataset.classes), "not one colour for each class"
    assert dataset.background is None or 0 <= dataset.background < len(dataset.classes), "its background is no class"
    assert dataset.fingerprint() == _again(dataset).fingerprint(), "its fingerprint changes though it does not"


def _again(dataset: Dataset) -> Dataset:
    """Return the same, built anew from its plain data."""
    return datasets.build(json.loads(json.dumps(datasets.spec(dataset))))


DATASET_CHECKS = (
    check_names_its_images,
    check_reads_samples,
    check_reads_the_same_again,
    check_says_what_it_is,
)
