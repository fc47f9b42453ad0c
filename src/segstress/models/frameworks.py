"""Frameworks that not everyone has: made importable where that is possible, and what is wrong said where it is not."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch

from ..core import BadInput
from .interface import Interface
from .model import first_line

# Mean and standard deviation of ImageNet's RGB pixels in [0, 1], by which pretrained encoders are normalised.
IMAGENET = Interface(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))


class Package(NamedTuple):
    """What an extra of segstress installs."""

    module: str  # what is imported
    least: str  # first version that serves
    below: str = ""  # first version that no longer does
    distributions: tuple[str, ...] = ()  # names under which it is installed, where they are not the module's


EXTRAS = {  # a test holds this equal to pyproject.toml
    "torchvision": (Package("torchvision", "0.19"),),
    "smp": (
        Package("segmentation_models_pytorch", "0.4", distributions=("segmentation-models-pytorch",)),
        Package("timm", "1.0"),
    ),
    "hf": (Package("transformers", "4.45"),),
    "onnx": (Package("onnx", "1.16"), Package("onnxruntime", "1.18"), Package("onnx2pytorch", "0.5")),
    "mmseg": (
        Package("mmcv", "2.0.1", "2.2", ("mmcv-lite", "mmcv")),
        Package("mmengine", "0.10", "1"),
        Package("mmseg", "1.2", "2", ("mmsegmentation",)),
    ),
}


@contextmanager
def framework(extra: str) -> Iterator[None]:
    """Yield guard imports that need an extra of segstress.

    Missing, too old and broken are three different complaints."""
    for package in EXTRAS[extra]:
        _check(package, extra)
    declare_operators()
    before = set(sys.modules)
    try:
        yield
    except Exception as error:  # what a broken package raises at import has no other base in common
        _remove(extra, before)
        if isinstance(error, ModuleNotFoundError) and not _is_installed(str(error.name)):
            needed = str(error.name)  # the package's own dependency, as it says nothing of what it lacks
            raise BadInput(f"this model needs {needed}, which is not installed: {_pip(extra)}") from error
        raise BadInput(f"{_installed(extra)}: installed, but its import fails: {_said(error)}") from error


@lru_cache(maxsize=1)
def declare_operators() -> torch.library.Library | None:
    """Declare what torchvision's Python half asks for when its compiled half does not go with this torch.

    A CUDA build beside a CPU torch, which is what pip installs, else fails at import and takes all that import it
    along. No segmentation network calls the two. The result is remembered: what it declares lives as long as it."""
    if "torchvision" in sys.modules or not _is_installed("torchvision") or _compiled():
        return None
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library


def _compiled() -> bool:
    """Say whether torchvision's operators load, without importing torchvision, which would stay behind in halves."""
    spec = importlib.util.find_spec("torchvision")
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    files = [folder / f"_C{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES]
    for file in filter(Path.is_file, files):
        try:
            torch.ops.load_library(str(file))
        except (ImportError, OSError):  # built for another torch, or for CUDA
            return False
    return hasattr(torch.ops.torchvision, "nms")


def _check(package: Package, extra: str) -> None:
    """Refuse a package that is absent or of a version that does not serve."""
    if not _is_installed(package.module):
        raise BadInput(f"this model needs {package.module}, which is not installed: {_pip(extra)}")
    version = _version(package)
    if version and not _key(package.least) <= _key(version) < (_key(package.below) or (sys.maxsize,)):
        wanted = f"{package.least} or later" + (f", below {package.below}" if package.below else "")
        raise BadInput(f"this model needs {package.module} {wanted}, found {version}: {_pip(extra, '--upgrade ')}")


def _is_installed(module: str) -> bool:
    """Say whether there is such a module; its parents are not imported."""
    top = module.partition(".")[0]
    if module in sys.modules or top in sys.modules:
        return sys.modules.get(module, sys.modules.get(top)) is not None
    return importlib.util.find_spec(top) is not None


def _version(package: Package) -> str:
    """Return the version that is installed; empty where it came without metadata."""
    for name in package.distributions or (package.module,):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


def _key(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparing."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:3])


def _remove(extra: str, before: set[str]) -> None:
    """Leave no half-imported module behind: a second attempt would report its ruins instead of the cause."""
    tops = {package.module for package in EXTRAS[extra]} | {"torchvision"}
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in tops:
            del sys.modules[name]


def _installed(extra: str) -> str:
    """List what is installed for an extra, with versions."""
    versions = [f"{package.module} {_version(package)}".strip() for package in EXTRAS[extra]]
    return f"{', '.join(versions)} beside torch {torch.__version__}"


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {first_line(error)}"


def _pip(extra: str, option: str = "") -> str:
    return f"pip install {option}'segstress[{extra}]'"
