"""A small JSON object in the state folder: private, replaced whole, safe with two programs at once."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

_LIMIT = 4 * 1024 * 1024


class StateFileError(Exception):
    """The file is there and can't be used; the message says what to do."""


def read_state(path: Path) -> dict[str, Any]:
    """The object in `path`, empty if there is no such file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StateFileError(f"{path} can't be read ({error.strerror}); fix or move it") from error
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LIMIT:
            raise StateFileError(f"{path} is not a file of ours; move it away")
        data = file.read(_LIMIT)
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
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        value = read_state(path)
        change(value)
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(
            fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(value, file, indent=1)
                file.flush()
                os.fsync(descriptor)
            os.replace(fresh, path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
    finally:
        os.close(lock)
