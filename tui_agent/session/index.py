"""Which sessions there are: the newest first, each told by the first lines of its file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tui_agent import paths
from tui_agent.session.entries import Entry, decode
from tui_agent.session.shelf import name_of
from tui_agent.session.store import FILE

_HEAD = 1 << 18
"""Bytes that are looked through for a title: the declarations and a first prompt fit well into them."""


@dataclass(frozen=True)
class Summary:
    """A session in a list. `title` is its name, else the first words of its first prompt, else empty."""

    id: str
    place: Path
    folder: str
    title: str
    changed: float
    size: int


def sessions(folder: Path) -> list[Summary]:
    """The sessions of a working folder that have a prompt, the last used first."""
    found = [summary for place in _places(folder) if (summary := summarise(place)) and summary.title]
    return sorted(found, key=lambda summary: summary.changed, reverse=True)


def everywhere() -> list[Summary]:
    """The sessions of all folders that have a prompt, the last used first."""
    places = [place for folder in _subfolders(paths.sessions_folder()) for place in _subfolders(folder)]
    found = [summary for place in places if (summary := summarise(place)) and summary.title]
    return sorted(found, key=lambda summary: summary.changed, reverse=True)


def last(folder: Path) -> Summary | None:
    """The one that `--continue` means. Reads no more files than it must."""
    by_age = sorted(_places(folder), key=_changed, reverse=True)
    return next((summary for place in by_age if (summary := summarise(place)) and summary.title), None)


def find(identity: str, folder: Path) -> Summary | None:
    """A session by its id, or the start of it if only one has it; the folder's own come first."""
    everywhere = paths.sessions_folder()
    for places in (list(_places(folder)), [p for f in _subfolders(everywhere) for p in _subfolders(f)]):
        matching = [p for p in places if p.name == identity] or [
            p for p in places if identity and p.name.startswith(identity)
        ]
        if len(matching) == 1:
            return summarise(matching[0])
    return None


def summarise(place: Path) -> Summary | None:
    """Its first lines, its size, its age; None if it is no session."""
    folder = title = ""
    try:
        with (place / FILE).open("rb") as opened:
            status = os.fstat(opened.fileno())
            while not title and opened.tell() < _HEAD and (line := opened.readline(_HEAD)):
                for part in decode(line):
                    if isinstance(part, Entry):
                        folder = part.session.folder if part.session else folder
                        title = title or _title(part)
    except OSError:
        return None
    title = title and (name_of(place) or title)
    return Summary(place.name, place, folder, title, status.st_mtime, status.st_size)


def _title(entry: Entry) -> str:
    if entry.event is None or entry.event.type != "turn_started" or not entry.event.prompt:
        return ""
    words = " ".join(block.text for block in entry.event.prompt if block.type == "text").split()
    return " ".join(words)[:80] or "(images)"


def _places(folder: Path) -> Iterator[Path]:
    return _subfolders(paths.sessions_folder() / paths.folder_key(folder))


def _subfolders(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            yield from [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return


def _changed(place: Path) -> float:
    try:
        return (place / FILE).stat().st_mtime
    except OSError:
        return 0.0
