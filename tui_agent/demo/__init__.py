"""The sample project that the demo works on: a copy in a temporary folder, gone at the end with its sessions.

Its files carry `.txt` behind their names, so that no installer, linter or test run takes them for code of
this package; `copy_project` gives them their own names.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from tui_agent import paths

NAME = "shop"
PREFIX = "tui-agent-demo-"
SUFFIX = ".txt"


@contextmanager
def project() -> Iterator[Path]:
    """A fresh sample project. At the end nothing of it is left, nor of what demos that were killed left."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder:
        yield copy_project(Path(os.path.realpath(folder)))
    forget_sessions()


def forget_sessions() -> None:
    """Remove the sessions of demos whose project is gone."""
    for place in paths.sessions_folder().glob(f"{NAME}-*"):
        folders = {_folder_of(file) for file in place.glob("*/*.jsonl")}
        if folders and all(map(_is_gone, folders)):
            shutil.rmtree(place, ignore_errors=True)


def _folder_of(session: Path) -> str:
    """The working folder that a session's header names, empty if it can't be read."""
    try:
        with session.open("rb") as file:
            header = json.loads(file.readline(100_000))["session"]
        return str(header["folder"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _is_gone(folder: str) -> bool:
    path = Path(folder)
    return path.name == NAME and path.parent.name.startswith(PREFIX) and not path.exists()


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
