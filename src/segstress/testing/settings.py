"""What every registered thing that has settings must keep: they are data."""

from __future__ import annotations

import json
import pickle
from typing import Any

from ..core import Registry


def check_settings(registry: Registry[Any], item: Any) -> None:
    """Check that settings survive JSON and pickle, are frozen, and the thing says in a line what it is."""
    spec = registry.spec(item)
    assert registry.build(json.loads(json.dumps(spec))) == item, "changed by JSON"
    assert pickle.loads(pickle.dumps(item)) == item, "changed by pickle"
    assert registry.about(spec["kind"]), "its docstring does not say what it is"
    assert type(item).__dataclass_params__.frozen, "settings can be changed; make it with @settings"
