"""Import what registers itself: every module of a room, and sources that a user names."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from .errors import BadInput


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a room, so that a new file registers itself."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")


def import_source(name: str) -> ModuleType:
    """Import a module by its dotted name or a file by its path, once."""
    path = Path(name)
    if path.suffix != ".py":
        try:
            return importlib.import_module(name)
        except (Exception, SystemExit) as error:  # it may be the user's code
            raise BadInput(f"module '{name}' cannot be imported ({error}); give a dotted name or a .py file") from error
    if not path.is_file():
        raise BadInput(f"file '{name}' does not exist; expected a Python file")
    unique = f"segstress_source_{path.resolve().as_posix().replace('/', '_').replace('.', '_')}"
    if unique not in sys.modules:
        spec = importlib.util.spec_from_file_location(unique, path)
        if spec is None or spec.loader is None:
            raise BadInput(f"file '{name}' cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[unique] = module
        sys.path.insert(0, str(path.resolve().parent))
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[unique]
            raise BadInput(f"file '{name}' cannot be imported: {type(error).__name__}: {error}") from error
        finally:
            sys.path.remove(str(path.resolve().parent))
    return sys.modules[unique]
