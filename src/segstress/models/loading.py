"""What became of every tensor of a file and of a network, remembered as long as the network lives."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from torch import nn


@dataclass(frozen=True)
class Loaded:
    """What became of every tensor of a file and of a network."""

    used: tuple[str, ...] = ()  # names in the network that were filled
    renamed: tuple[tuple[str, str], ...] = ()  # in the file, in the network
    left_out: tuple[str, ...] = ()  # of the file, not used
    untouched: tuple[str, ...] = ()  # of the network, not filled
    source: str = ""  # the file

    def lines(self) -> list[str]:
        """Return the report, one line for each tensor."""
        origin = {new: old for old, new in self.renamed}
        used = [f"used      {name}" + (f" (was {origin[name]})" if name in origin else "") for name in self.used]
        left = [f"left out  {name}" for name in self.left_out]
        return [*used, *left, *(f"untouched {name}" for name in self.untouched)]

    def __str__(self) -> str:
        counts = {"used": self.used, "renamed": self.renamed, "left out": self.left_out, "untouched": self.untouched}
        return ", ".join(f"{len(names)} {what}" for what, names in counts.items())


_reports: WeakKeyDictionary[nn.Module, Loaded] = WeakKeyDictionary()


def remember(network: nn.Module, loaded: Loaded) -> Loaded:
    """Keep the report of a network that was filled, and return it."""
    _reports[network] = loaded
    return loaded


def loading_reports(network: nn.Module) -> list[Loaded]:
    """Return the reports of a network and of its parts; none where no file of weights was loaded."""
    return [_reports[part] for part in network.modules() if part in _reports]
