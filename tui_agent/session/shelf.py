"""What a person does with stored sessions beside going on with one: name them, throw them away, copy them.

A name is a small file beside the session's events, so that it can be given to any session, also to one that
is open elsewhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tui_agent import paths
from tui_agent.session.store import FILE, InUse, SessionStore, lock

NAME = "name.txt"
LONGEST = 120
"""Characters of a name."""


def name_of(place: Path) -> str:
    """The name that a person gave, empty if none."""
    try:
        text = paths.read_small(place / NAME, 4 * LONGEST, follow=False).decode("utf-8", "replace")
    except OSError:
        return ""
    return " ".join(text.split())[:LONGEST]


def rename(place: Path, name: str) -> str:
    """Call a session `name` from now on; a blank one gives it its first words back. Returns what it got."""
    kept = " ".join(name.split())[:LONGEST]
    if not kept:
        (place / NAME).unlink(missing_ok=True)
        return ""
    paths.replace_private(place / NAME, kept.encode("utf-8", "replace") + b"\n")
    return kept


def delete(place: Path) -> None:
    """Remove a session with all that it kept. Raises `InUse` while a program has it open."""
    try:
        fd = lock(place / FILE)
    except BlockingIOError:
        raise InUse(f"the session {place.name} is open in another program: close it there first") from None
    try:
        shutil.rmtree(place)
    finally:
        os.close(fd)
    with suppress(OSError):  # the folder of its working folder, if nothing else is in it
        place.parent.rmdir()


def fork(place: Path, folder: Path, *, redact: Callable[[str], str]) -> str:
    """A copy of a session as it is now, open or not; returns the id of the copy."""
    store = SessionStore.fork(place, folder, redact=redact)
    store.close()
    if name := name_of(place):
        rename(store.place, f"{name} (copy)")
    return store.id
