"""What a read-only command may reach: paths inside the folder that hold no secrets.

Globs are expanded here as bash will expand them (rather too much than too little), so that each name they
give is looked at, also as an option. Links are followed: the place a path leads to is what counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tui_agent.permissions.git_config import tells_secrets
from tui_agent.permissions.places import is_secret
from tui_agent.permissions.words import Word

_MAX_NAMES = 500
_MAX_WALK = 5_000
_MAX_COMPONENT = 600
_MAX_IGNORE_FILE = 100_000
_IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
_NEVER = ("/proc", "/sys", "/dev")
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv"})


class OutOfReach(Exception):
    """Why a word can't be read without asking."""


def within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def check_path(path: str, place: str, folder: str) -> None:
    """Raise unless `path`, used in `place`, leads to something harmless inside `folder`."""
    written = os.path.normpath(os.path.join(place, path))
    real = os.path.realpath(os.path.join(place, path))
    if not within(real, folder) or any(within(real, never) for never in _NEVER):
        raise OutOfReach(f"{path} is outside the folder")
    for name in {written, real}:
        if within(name, folder) and is_secret(os.path.relpath(name, folder)):
            raise OutOfReach(f"{path} may hold secrets")


def expand(words: Sequence[Word], place: str) -> list[str]:
    """The arguments that the program gets; raises for what only the shell knows."""
    arguments: list[str] = []
    for word in words:
        if word.value is None or word.tilde:
            raise OutOfReach(f"{word.text} is not a plain word")
        if word.glob:
            arguments += _matches(word.pattern, place) or [word.value]
        else:
            arguments.append(word.value)
        if len(arguments) > _MAX_NAMES:
            raise OutOfReach("more names than can be looked at")
    return arguments


def _matches(pattern: str, place: str) -> list[str]:
    root, *parts = pattern.split("/")
    found = [""]
    for index, part in enumerate([root, *parts]):
        last = index == len(parts)
        found = [name for prefix in found for name in _step(prefix, part, place, last)]
        if len(found) > _MAX_NAMES:
            raise OutOfReach("more names than can be looked at")
    return sorted(found)


def _step(prefix: str, part: str, place: str, last: bool) -> Iterator[str]:
    end = "" if last else "/"
    part = re.sub(r"\[([*?\[\]])\]", lambda m: "\0" + m.group(1), part)  # quoted characters mean themselves
    if not re.search(r"(?<!\0)[*?\[]", part):
        yield f"{prefix}{part.replace(chr(0), '')}{end}"
        return
    if len(part) > _MAX_COMPONENT:  # no name is that long
        return
    regex = _component(part)
    folder = os.path.join(place, prefix or ".")
    try:
        names = os.listdir(folder)
    except OSError:
        return
    if part.startswith("."):
        names += [".", ".."]
    for name in names:
        if name.startswith(".") == part.startswith(".") and regex.fullmatch(name):
            yield f"{prefix}{name}{end}"


@lru_cache(maxsize=256)
def _component(part: str) -> re.Pattern[str]:
    # What a bracket matches depends on the locale, so a name with one is taken to match anything.
    if re.search(r"(?<!\0)\[", part):
        return re.compile(r".*", re.DOTALL)
    pieces = re.findall(r"\0.|.", part, re.DOTALL)
    live = {"*": ".*", "?": "."}
    return re.compile("".join(live.get(p) or re.escape(p[-1]) for p in pieces), re.DOTALL)


def check_tree(path: str, place: str, folder: str, *, hidden: bool) -> None:
    """Raise if a search below `path` would read a file that holds secrets.

    Without `hidden` the search leaves hidden files out, unless an ignore file takes one back in.
    """
    start = os.path.join(place, path)
    stack = [start]
    seen = 0
    hidden = hidden or _takes_back(start, folder)
    while stack:
        try:
            entries = list(os.scandir(stack.pop()))
        except OSError:
            continue
        seen += len(entries)
        if seen > _MAX_WALK:
            raise OutOfReach(
                f"{path} holds too many files to look through for secrets; name a smaller folder"
            )
        if not hidden and any(entry.name in _IGNORE_FILES and _lets_in(entry.path) for entry in entries):
            return check_tree(path, place, folder, hidden=True)
        for entry in entries:
            if entry.name == ".git" and hidden and tells_secrets(os.path.join(entry.path, "config")):
                raise OutOfReach("it would read .git/config, which holds a password")
            if entry.name in _SKIPPED or (entry.name.startswith(".") and not hidden):
                continue
            if is_secret(entry.name):
                raise OutOfReach(f"it would read {entry.name}, which may hold secrets")
            if entry.is_dir(follow_symlinks=False):
                stack.append(entry.path)
    return None


def _takes_back(start: str, folder: str) -> bool:
    """An ignore file above the search takes files back in."""
    while within(start, folder) and start != folder:
        start = os.path.dirname(start)
        if any(_lets_in(os.path.join(start, name)) for name in _IGNORE_FILES):
            return True
    return False


def _lets_in(ignore_file: str) -> bool:
    try:
        with open(ignore_file, "rb") as file:
            return re.search(rb"(?m)^!", file.read(_MAX_IGNORE_FILE)) is not None
    except OSError:
        return False


def shadowed(name: str, folder: str) -> bool:
    """The program that would run lies in the folder, or depends on where we stand."""
    return any(
        os.path.lexists(os.path.join(entry, name))
        for entry in _near_entries(os.environ.get("PATH", os.defpath), folder)
    )


@lru_cache(maxsize=16)
def _near_entries(search_path: str, folder: str) -> tuple[str, ...]:
    """The entries of PATH that are relative, or lie in the folder."""
    entries = [os.path.join(folder, entry) for entry in search_path.split(os.pathsep)]
    return tuple(
        e for e in entries if within(os.path.normpath(e), folder) or within(os.path.realpath(e), folder)
    )
