"""Networks of mmsegmentation, by their configs; without the compiled half of mmcv where they do not need it."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from torch import nn

from ..core import BadInput, settings
from ..core.quantities import Classes
from .frameworks import framework
from .interface import Interface, Pad
from .legend import Legend
from .metainfo import read_checkpoint_legend, read_config_legend
from .model import check_known, first_line, models, readable
from .weights import Weighted
from .whole import Whole

KINDS = ("EncoderDecoder", "CascadeEncoderDecoder")  # segmentors that answer with one logit a class and pixel
MASKED = ("MaskFormerHead", "Mask2FormerHead")  # heads that answer by masks, and are in mmdet


@models.register("mmseg")
@settings
class MMSeg(Weighted):
    """A network of mmsegmentation: `mmseg:my_config.py?weights=a.pth`, or by the name of a config that mmseg brings."""

    positional: ClassVar = "config"
    config: str  # path of a config, or a name such as pspnet_r50-d8_4xb4-20k_voc12aug-512x512
    classes: Classes | None = None  # in place of the config's

    @property
    def label(self) -> str:
        """The config, and the weights."""
        stem = Path(self.config).name.removesuffix(".py")
        return readable(f"{stem}-{self.weights.stem}" if self.weights else stem)

    def known(self) -> Interface:
        """Read normalisation, channel order, padding and sliding windows from the config."""
        config = self._read()
        rules = config.model.get("data_preprocessor") or config.get("data_preprocessor")
        if rules is None and (self.mean == (0,) or self.std == (1,)):
            raise BadInput(f"config '{self.config}' has no data_preprocessor: set mean and std, in 0..255")
        rules = rules or {}
        normalised = {"mean": rules["mean"], "std": rules["std"]} if rules.get("mean") is not None else {}
        test = config.model.get("test_cfg") or {}
        sliding = {"window": test["crop_size"], "stride": test["stride"]} if test.get("mode") == "slide" else {}
        bgr = not rules.get("bgr_to_rgb", False)  # mmcv reads files as BGR
        return Interface(bgr=bgr, scale=255, pad=self._pad(rules, bool(sliding)), **normalised, **sliding)

    def _pad(self, rules: Any, sliding: bool) -> Pad | None:
        """Read what the preprocessor adds to images at test time."""
        padding = rules.get("test_cfg") or {}
        if not padding:
            return None
        if sliding or padding.get("size") or rules.get("pad_val", 0) != 0:
            raise BadInput(
                f"config '{self.config}': of data_preprocessor.test_cfg only size_divisor is known, with pad_val 0 and "
                "without sliding windows"
            )
        return Pad(multiple=padding["size_divisor"])

    def network(self) -> nn.Module:
        """Build the segmentor, with its weights if any are named; it answers at the size of its images."""
        config = self._read()
        _check_kind(config.model, self.config)
        from mmengine.registry import DefaultScope
        from mmseg.registry import MODELS

        try:
            # Warnings tell, for instance, that a binary head has a threshold by default.
            with warnings.catch_warnings(action="ignore"), DefaultScope.overwrite_default_scope("mmseg"):
                network: nn.Module = MODELS.build(_prepared(config.model, self.classes))
        except Exception as error:  # whatever the parts of a network raise
            raise BadInput(f"config '{self.config}' cannot be built: {first_line(error)}") from error
        self.fill(network)
        return Whole(network)

    def legend(self) -> Legend | None:
        """Read classes and colours from the checkpoint, or else from the config; only where their number is right."""
        config = self._read()
        legend = read_checkpoint_legend(self.weights) if self.weights else None
        legend = legend or read_config_legend(config)
        head = _listed(config.model.decode_head)[-1]
        return legend if legend and len(legend.names) == (self.classes or head.get("num_classes")) else None

    def sources(self) -> tuple[Path, ...]:
        """Return the config and those that it builds on."""
        import_mmseg()
        return tuple(dict.fromkeys(_files(self._path())))

    def _path(self) -> Path:
        """Find the file of the config."""
        path = Path(self.config)
        if path.is_file():
            return path
        if path.suffix == ".py" and len(path.parts) > 1:
            raise BadInput(f"config '{path}' does not exist; expected a config of mmseg or the name of one")
        import mmseg

        brought = sorted(Path(mmseg.__path__[0], ".mim", "configs").glob("[!_]*/*.py"))
        files = {file.stem: file for file in brought}
        name = self.config.removesuffix(".py")
        check_known("mmseg config", name, files)
        return files[name]

    def _read(self) -> Any:
        """Read the config with all that it builds on; this runs its code and imports what it asks for."""
        import_mmseg()
        from mmengine.config import Config

        path = self._path()
        try:
            with warnings.catch_warnings(action="ignore"):
                config = Config.fromfile(path)
        except ImportError as error:
            cause = first_line(error.__cause__ or error.__context__ or error)  # type: ignore[arg-type]
            raise BadInput(f"config '{self.config}' imports what cannot be imported: {cause}") from error
        except Exception as error:  # a config is code
            raise BadInput(f"config '{self.config}' cannot be read: {first_line(error)}") from error
        if "model" not in config:
            raise BadInput(f"config '{self.config}' has no model; expected a config of mmseg")
        return config


def import_mmseg() -> None:
    """Import mmseg; where mmcv has no compiled operators, with a stand-in that refuses each by its name."""
    with framework("mmseg"), warnings.catch_warnings(action="ignore"):
        import mmcv

        if "mmcv.ops" not in sys.modules and importlib.util.find_spec("mmcv._ext") is None:
            sys.modules["mmcv.ops"] = mmcv.ops = Operators("mmcv.ops")
        import mmseg.models  # noqa: F401 (registers its parts)


class Operators(ModuleType):
    """Stands for mmcv.ops: any name can be imported, and complains when it is used."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []  # a package without modules

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def refuse(*_: Any, **__: Any) -> None:
            raise BadInput(f"this model needs '{name}' of the full mmcv, which mmcv-lite lacks: install mmcv instead")

        return refuse


def _check_kind(model: Any, name: str) -> None:
    """Refuse segmentors that do not answer with logits."""
    if model.get("type") not in KINDS:
        raise BadInput(f"config '{name}': segmentor {model.get('type')} is not supported; known: {', '.join(KINDS)}")
    kinds = [head.get("type") for head in _listed(model.decode_head)]
    if kinds[-1] in MASKED:
        raise BadInput(f"config '{name}': {kinds[-1]} needs mmdet, which is not supported; take the model from hf")


def _prepared(node: Any, classes: Classes | None) -> Any:
    """Return rid a model's config of downloads, give it ordinary BatchNorm, which runs anywhere, and other classes."""
    if isinstance(node, list | tuple):
        return type(node)(_prepared(item, classes) for item in node)
    if not isinstance(node, dict):
        return node
    made = {key: _prepared(value, classes) for key, value in node.items() if not _downloads(key, value)}
    if made.get("type") == "SyncBN":
        made["type"] = "BN"
    if classes is not None and "num_classes" in made:
        made["num_classes"] = classes
    return type(node)(made)


def _downloads(key: str, value: Any) -> bool:
    return key == "pretrained" or (key == "init_cfg" and isinstance(value, dict) and value.get("type") == "Pretrained")


def _listed(heads: Any) -> list[Any]:
    return list(heads) if isinstance(heads, list | tuple) else [heads]


def _files(path: Path) -> Iterator[Path]:
    from mmengine.config import Config

    yield path
    for base in Config._get_base_files(str(path)):
        if "::" not in base:  # of another package, whose version says what it is
            yield from _files(path.parent / base)
