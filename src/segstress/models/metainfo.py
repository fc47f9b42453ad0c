"""Class names and colours as mmseg keeps them: in a checkpoint, in a config, in its registry of datasets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .legend import Legend
from .released import read_file

DATASETS = ("test_dataloader", "val_dataloader", "train_dataloader")  # where a config says what it was trained for


def read_checkpoint_legend(path: Path) -> Legend | None:
    """Read the classes that a checkpoint of mmseg's notes beside its weights; mmseg 0.x wrote them in capitals."""
    content = read_file(path)
    meta = content.get("meta") if isinstance(content, Mapping) else None
    if not isinstance(meta, Mapping):
        return None
    return _legend(meta.get("dataset_meta")) or _legend(meta)


def read_config_legend(config: Any) -> Legend | None:
    """Read the classes that a config's datasets name themselves, or that mmseg's registry has under their type."""
    legend = _legend(config.get("metainfo"))
    for dataset in (_inner(config.get(loader)) for loader in DATASETS):
        legend = legend or _legend(dataset.get("metainfo")) or _registered(dataset.get("type"))
    return legend


def _inner(loader: Any) -> Any:
    """Return the dataset of a loader, out of those that repeat or join others."""
    dataset = (loader or {}).get("dataset") or {}
    while dataset.get("dataset") or dataset.get("datasets"):
        dataset = dataset.get("dataset") or dataset["datasets"][0]
    return dataset


def _registered(kind: Any) -> Legend | None:
    import mmseg.datasets  # noqa: F401 (registers them)
    from mmseg.registry import DATASETS as KNOWN

    return _legend(getattr(KNOWN.get(kind), "METAINFO", None)) if isinstance(kind, str) else None


def _legend(meta: Any) -> Legend | None:
    if not isinstance(meta, Mapping):
        return None
    names, palette = (meta.get(key) or meta.get(key.upper()) or () for key in ("classes", "palette"))
    if not names or isinstance(names, str):
        return None
    listed = () if isinstance(palette, str) else palette  # "random" is a word for none
    colours = tuple((int(red), int(green), int(blue)) for red, green, blue in listed)
    return Legend(tuple(map(str, names)), colours if len(colours) == len(names) else ())
