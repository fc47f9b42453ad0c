"""Weights from files as authors release them: tensors only, never pickled code, and every tensor is accounted for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from torch import Tensor, nn

from ..core import BadInput, settings
from ..core.remote import AnyPath, local_copy
from .loading import Loaded, remember
from .model import Model
from .released import brief, only_tensors, read_file

WRAPPERS = ("module.", "_orig_mod.")  # what DataParallel and torch.compile put before every name
OWNERS = ("model.", "network.", "net.")  # attributes under which trainers keep a network
COUNTERS = ("n_averaged",)  # of averaged weights: how many there were


def _pairs(value: Any) -> Any:
    """Read `old:new,other:`, as a command line writes a mapping; YAML reads what ends in a colon as one."""
    pairs: dict[str, str] = {}
    for item in value if isinstance(value, list | tuple) else [value]:
        names = item if isinstance(item, Mapping) else [str(item).partition(":")[::2]]
        pairs.update({str(old): str(new or "") for old, new in dict(names).items()})
    return pairs


Renaming = Annotated[dict[str, str], BeforeValidator(_pairs)]


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


@settings
class Weighted(Model):
    """A model whose weights are in a file of their own."""

    weights: AnyPath | None = None  # safetensors or torch file; none = as the network is made, and nothing is fetched
    weights_key: str = ""  # entry of the file that holds the tensors, where it has several: `model_ema`
    rename: Renaming = Field(default_factory=dict)  # beginnings: old:new
    ignore: Annotated[tuple[str, ...], BeforeValidator(_several)] = ()  # beginnings or patterns (*) to leave out

    def fill(self, network: nn.Module) -> Loaded:
        """Load the weights that are named, if any, and tell what became of every tensor."""
        path = self.weights_file()
        if path is None:
            return Loaded()
        return fill(network, read_weights(path, self.weights_key), str(path), self.rename, self.ignore)

    def weights_file(self) -> Path | None:
        """Return the file that holds the weights."""
        return self.weights


def load_weights(network: nn.Module, path: Path, key: str = "") -> Loaded:
    """Fill a network from a file; `key` names the entry that holds the tensors, such as `model`."""
    return fill(network, read_weights(path, key), str(path))


def read_weights(path: Path, key: str = "") -> dict[str, Tensor]:
    """Read the named tensors of a safetensors or torch file; without a key it must be plain which entry has them."""
    if not path.is_file():
        raise BadInput(f"weights '{path}' do not exist; expected a .safetensors or torch file")
    content = read_file(local_copy(path))
    for part in filter(None, key.split(".")):
        if not isinstance(content, Mapping) or part not in content:
            raise BadInput(f"weights '{path}': no entry '{key}'; found {brief(content)}")
        content = content[part]
    if not only_tensors(content):
        content = _only_entry(content, path)
    weights = {str(name): tensor for name, tensor in content.items()}
    for prefix in WRAPPERS:
        if all(name.startswith(prefix) or name in COUNTERS for name in weights):
            weights = {name.removeprefix(prefix): tensor for name, tensor in weights.items()}
    return weights


def _only_entry(content: Any, path: Path) -> Mapping[str, Tensor]:
    """Find the one entry that holds named tensors; of several the user must choose, an average or the last step."""
    entries = dict(_entries(content))
    if len(entries) == 1:
        return next(iter(entries.values()))
    if entries:
        raise BadInput(
            f"weights '{path}' hold {' and '.join(entries)}; set weights_key to the one you want (of a backbone: key)"
        )
    raise BadInput(f"weights '{path}': expected named tensors, found {brief(content)}; weights_key names the entry")


def _entries(content: Any, prefix: str = "") -> Iterable[tuple[str, Mapping[str, Tensor]]]:
    """Yield entries of named tensors, with their keys; an optimizer's are numbered."""
    for name, value in content.items() if isinstance(content, Mapping) else ():
        if not isinstance(name, str):
            continue
        if only_tensors(value):
            yield f"{prefix}{name}", value
        elif isinstance(value, Mapping):
            yield from _entries(value, f"{prefix}{name}.")


def fill(
    network: nn.Module,
    weights: Mapping[str, Tensor],
    source: str,
    rename: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
) -> Loaded:
    """Copy tensors into a network; whatever has no place, on either side, is refused unless it is harmless or ignored.

    Harmless are heads that only training uses and counters that no answer depends on."""
    wanted = network.state_dict()
    names = _names(weights, wanted, rename or {}, source)  # in the network -> in the file
    missing, unexpected = sorted(wanted.keys() - names.keys()), sorted(names.keys() - wanted.keys())
    untouched = [name for name in missing if _matches(name, ignore) or name.endswith("num_batches_tracked")]
    left_out = [name for name in unexpected if _matches(name, ignore) or _matches(names[name], ignore) or _spare(name)]
    lacking = [name for name in missing if name not in untouched]
    extra = [name for name in unexpected if name not in left_out]
    used = [name for name in wanted if name in names]
    if lacking or extra or not used:
        raise BadInput(f"weights '{source}' do not fit: {_unfit(lacking, extra, list(names), list(wanted))}")
    for name in used:
        shape, expected = tuple(weights[names[name]].shape), tuple(wanted[name].shape)
        if shape != expected:
            raise BadInput(f"weights '{source}' do not fit: {name} has shape {shape}, expected {expected}")
    network.load_state_dict({name: weights[names[name]] for name in used}, strict=False)
    renamed = tuple((names[name], name) for name in used if names[name] != name)
    loaded = Loaded(tuple(used), renamed, tuple(names[name] for name in left_out), tuple(untouched), source)
    return remember(network, loaded)


def _names(weights: Iterable[str], wanted: Iterable[str], rename: Mapping[str, str], source: str) -> dict[str, str]:
    """Map names in the network to the file's: renamed, and freed from a common beginning."""
    names = renamed(weights, rename, source)
    for owner in OWNERS:
        if all(name.startswith(owner) for name in names) and not any(name.startswith(owner) for name in wanted):
            names = {name.removeprefix(owner): old for name, old in names.items()}
    return names


def renamed(weights: Iterable[str], rename: Mapping[str, str], source: str) -> dict[str, str]:
    """Map new names to the file's, of which the given beginnings are replaced; each must be there."""
    names: dict[str, str] = {}
    unused = set(rename)
    for name in weights:
        old = next((old for old in rename if name.startswith(old)), None)
        unused -= {old or ""}
        new = name if old is None else rename[old] + name.removeprefix(old)
        if new in names:
            raise BadInput(f"weights '{source}': '{names[new]}' and '{name}' would both be named '{new}'")
        names[new] = name
    if unused - {""}:
        raise BadInput(f"weights '{source}': rename: no name begins with '{min(unused)}'; found {brief(list(names))}")
    return names


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) if "*" in pattern else name.startswith(pattern) for pattern in patterns)


def _spare(name: str) -> bool:
    """Say whether a tensor that the network has no place for is of a head for training, or counts something."""
    parts = name.split(".")
    return parts[0].startswith("aux") or parts[-1] in ("num_batches_tracked", *COUNTERS)


def _unfit(missing: list[str], unexpected: list[str], stored: list[str], wanted: list[str]) -> str:
    """Say what differs; of another architecture, how both begin."""
    if 2 * len(missing) > len(wanted):
        return f"another architecture? The file has {brief(stored, 5)}; the network wants {brief(wanted, 5)}"
    return f"missing {brief(missing, 5)}; unexpected {brief(unexpected, 5)}; rename and ignore may bring them together"
