"""The Anthropic SDK without the two thousand modules that nobody asked for.

`import anthropic` runs 3,150 modules, most of them types of APIs that we never call: 0.9 s and 30 MB. The
packages below do little but say where their names live. Imported `leanly`, they load a name when it is first
asked for instead: every name is there, the few that are used are imported, in 0.4 s.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_loader
from types import ModuleType

THIN = frozenset(
    {
        "anthropic",
        "anthropic.lib.streaming",
        "anthropic.lib.tools",
        "anthropic.resources",
        "anthropic.resources.beta",
        "anthropic.types",
        "anthropic.types.beta",
        "anthropic.types.beta.organization",
        "anthropic.types.beta.sessions",
        "anthropic.types.organization",
        "anthropic.types.shared",
    }
)
"""Packages of `anthropic` 2.14 whose `__init__` gathers names, and does nothing else that we need."""


def leanly(load: Callable[[], None]) -> None:
    """Call `load`, which imports from the SDK; once more, without this, where the lean way fails."""
    if "anthropic" in sys.modules:
        load()
        return
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        load()
    except Exception:  # another version, laid out otherwise
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == "anthropic"]:
            del sys.modules[name]
        load()


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in THIN:
            return None
        real = PathFinder.find_spec(fullname, path, target)
        if real is None or not isinstance(real.loader, InspectLoader):
            return None
        source = real.loader.get_source(fullname)
        if source is None:
            return None
        lean = spec_from_loader(fullname, _Names(source), origin=real.origin, is_package=True)
        if lean is not None:
            lean.submodule_search_locations = real.submodule_search_locations
        return lean


class _Names(Loader):
    """A package that imports each of its names when it is asked for it."""

    def __init__(self, source: str) -> None:
        self._homes = {name: (module, original) for name, module, original in _gathered(source)}

    def exec_module(self, module: ModuleType) -> None:
        def load(name: str) -> object:
            if name not in self._homes:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            home, original = self._homes[name]
            if not home.strip("."):
                value: object = importlib.import_module(home + original, module.__name__)
            else:
                value = getattr(importlib.import_module(home, module.__name__), original)
            setattr(module, name, value)
            return value

        module.__dict__["__getattr__"] = load
        module.__dict__["__all__"] = [name for name in self._homes if not name.startswith("_")]


def _gathered(source: str) -> Iterator[tuple[str, str, str]]:
    """Name, module and name there of each relative import at the top of a module."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                yield alias.asname or alias.name, "." * node.level + (node.module or ""), alias.name
