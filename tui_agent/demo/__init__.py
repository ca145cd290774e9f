"""The sample project that the demo works on.

Its files carry `.txt` behind their names, so that no installer, linter or test run takes them for code of
this package; `copy_project` gives them their own names.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

NAME = "shop"
SUFFIX = ".txt"


def copy_project(into: Path) -> Path:
    """Write the sample project into a new folder beneath `into`, and return that folder."""
    folder = into / NAME
    _copy(files(__package__) / "project", folder)
    return folder


def _copy(source: Traversable, target: Path) -> None:
    target.mkdir()
    for entry in source.iterdir():
        if entry.is_dir():
            _copy(entry, target / entry.name)
        elif entry.name.endswith(SUFFIX):
            (target / entry.name.removesuffix(SUFFIX)).write_bytes(entry.read_bytes())
