"""A small JSON object in the state folder: private, replaced whole, safe with two programs at once."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tui_agent.paths import open_private, read_small, replace_private

_LIMIT = 4 * 1024 * 1024


class StateFileError(Exception):
    """The file is there and can't be used; the message says what to do."""


def read_state(path: Path) -> dict[str, Any]:
    """The object in `path`, empty if there is no such file."""
    try:
        data = read_small(path, _LIMIT, follow=False)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StateFileError(f"{path} can't be read ({error.strerror or error}); fix or move it") from error
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StateFileError(f"{path} is not valid JSON ({error}); fix or move it") from error
    if not isinstance(value, dict):
        raise StateFileError(f"{path} holds no JSON object; fix or move it")
    return value


def update_state(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Read, let `change` edit the object in place, and replace the file, under a lock."""
    try:
        _update(path, change)
    except OSError as error:
        raise StateFileError(f"{path} can't be written ({error.strerror}); look at its folder") from error


def _update(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    lock = open_private(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        value = read_state(path)
        change(value)
        replace_private(path, json.dumps(value, indent=1).encode(), durable=True)
    finally:
        os.close(lock)
