"""Whether a repository's own configuration makes a read-only git command start programs.

`git status` runs `core.fsmonitor`, `git diff` runs `diff.external`, text converters and clean filters, and a
partial clone fetches over the network. The files that may name such programs are read here directly, as git
would find them from a folder: no git is started. What is found is kept until one of the files changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tui_agent.permissions.words import names

_LIMIT = 1_000_000
_HEADER = re.compile(r'\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[ \t]*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)")
_HARMLESS_VALUES = ("", "false", "no", "off", "0")

# By the last name of the key, whatever its section.
_STARTS_BY_NAME = names("""
    fsmonitor pager editor sshcommand askpass hookspath external textconv command cmd driver clean smudge
    process program helper gitproxy uploadpack receivepack vcs difffilter worktree attributesfile promisor
    partialclone partialclonefilter alternaterefscommand packobjectshook showsignature defaulttype
    """)
# By the section.
_STARTS_BY_SECTION = names("filter include includeif alias pager interactive sequence gpg trailer")
_SWITCHES = frozenset({"promisor", "showsignature", "fsmonitor", "pager"})
_HOOKS = ("post-index-change", "fsmonitor-watchman", "query-watchman")


class _Unreadable(Exception):
    pass


@dataclass(frozen=True)
class Repository:
    """What matters of the repository that git would find. `starts`: why even reading may run a program."""

    starts: str | None = None
    submodules: bool = False


def repository(folder: str) -> Repository:
    """Look at what git would use in `folder`; cheap when nothing changed since the last look."""
    if any(name in os.environ for name in ("GIT_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_COMMON_DIR")):
        return Repository("the environment names another repository")
    return _look(folder, tuple((path, _stamp(path)) for path in _relevant(folder)))


def tells_secrets(path: str) -> bool:
    """A git configuration that holds a password or a token."""
    try:
        with open(path, "rb") as file:
            text = file.read(_LIMIT)
    except OSError:
        return False
    return (
        re.search(rb"://[^/\s@]*:[^/\s@]*@|://[^/\s@]{16,}@|extraheader|password", text, re.IGNORECASE)
        is not None
    )


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _relevant(folder: str) -> Iterator[str]:
    """Every file whose change may change the answer."""
    for git_dir in _git_dirs(folder):
        yield git_dir
        for name in ("config", "config.worktree", "commondir", "index", "HEAD", "hooks"):
            yield os.path.join(git_dir, name)
        common = _common(git_dir)
        if common != git_dir:
            yield from (os.path.join(common, name) for name in ("config", "config.worktree", "hooks"))


def _git_dirs(folder: str) -> Iterator[str]:
    """Where git would look, from the folder up: each `.git`, and each folder that is itself a repository."""
    while True:
        dot_git = os.path.join(folder, ".git")
        if os.path.lexists(dot_git):
            yield _pointed(dot_git, folder)
        elif os.path.lexists(os.path.join(folder, "HEAD")):
            yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _pointed(dot_git: str, folder: str) -> str:
    if os.path.isdir(dot_git):
        return dot_git
    text = _read(dot_git) or ""
    target = text.removeprefix("gitdir:").strip()
    return os.path.normpath(os.path.join(folder, target)) if text.startswith("gitdir:") else dot_git


def _common(git_dir: str) -> str:
    text = _read(os.path.join(git_dir, "commondir"))
    return git_dir if text is None else os.path.normpath(os.path.join(git_dir, text.strip()))


@lru_cache(maxsize=32)
def _look(folder: str, stamps: tuple[tuple[str, object], ...]) -> Repository:
    submodules = False
    for git_dir in _git_dirs(folder):
        if not os.path.exists(os.path.join(git_dir, "HEAD")):
            if os.path.basename(git_dir) == ".git" and not os.path.isdir(git_dir):
                return Repository("the file .git can't be followed")
            continue
        if os.path.basename(git_dir) != ".git" and not os.path.exists(os.path.join(git_dir, "commondir")):
            bare = os.path.isdir(os.path.join(git_dir, "objects")) and os.path.isdir(
                os.path.join(git_dir, "refs")
            )
            if bare and folder != git_dir and not folder.startswith(git_dir + "/"):
                bare = False
            if bare:
                return Repository("the folder itself is a git directory")
        common = _common(git_dir)
        for place in dict.fromkeys((git_dir, common)):
            for name in ("config", "config.worktree"):
                if reason := _starts(os.path.join(place, name)):
                    return Repository(reason)
            for hook in _HOOKS:
                if os.path.exists(os.path.join(place, "hooks", hook)):
                    return Repository(f"the repository has the hook {hook}")
        submodules = submodules or _has_submodules(git_dir, common)
    return Repository(None, submodules)


def _has_submodules(git_dir: str, common: str) -> bool:
    if os.path.isdir(os.path.join(common, "modules")):
        return True
    try:
        with open(os.path.join(git_dir, "index"), "rb") as file:
            index = file.read(64 * _LIMIT)
    except OSError:
        return False
    # The mode of a submodule's entry, or an index that is kept in parts. May see one too many, never too few.
    return b"\0\0\xe0\0" in index or b"link\0\0" in index or b"sdir" in index


def _starts(path: str) -> str | None:
    """Why this configuration may start a program, or can't be trusted to be understood."""
    text = _read(path)
    if text is None:
        return None
    try:
        for key, value in _entries(text):
            if _is_program(key, value):
                return f"{key} in the repository's configuration starts a program"
    except _Unreadable:
        return "the repository's configuration can't be read"
    return None


def _read(path: str) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        try:
            data = file.read(_LIMIT + 1) or b""
        except OSError:
            return None
    return data.decode("utf-8", "replace") if len(data) <= _LIMIT else "[too long"


def _is_program(key: str, value: str) -> bool:
    parts = key.split(".")
    section, name = parts[0], parts[-1]
    if section == "pretty" or key == "format.pretty":
        return "%g" in value.casefold()  # asks gpg
    if section in _STARTS_BY_SECTION:
        return True
    if section == "diff" and len(parts) > 2:
        return name not in ("xfuncname", "funcname", "binary", "wordregex", "cachetextconv", "algorithm")
    if name in _STARTS_BY_NAME:
        return not (name in _SWITCHES and value.strip().casefold() in _HARMLESS_VALUES)
    return False


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Every `section.sub.key` in lower case, with its value, in git's own syntax."""
    section = ""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    position = 0
    while position < len(text):
        c = text[position]
        if c in " \t\n":
            position += 1
        elif c in "#;":
            position = _line_end(text, position)
        elif c == "[":
            header = _HEADER.match(text, position)
            if header is None:
                raise _Unreadable
            section = header.group(1).casefold() + (
                f".{header.group(2)}" if header.group(2) is not None else ""
            )
            position = header.end()
        else:
            key = _KEY.match(text, position)
            if key is None:
                raise _Unreadable
            value, position = _value(text, key.end()) if key.group(2) else ("true", key.end())
            if not key.group(2) and text[position : position + 1] not in ("", "\n", "#", ";"):
                raise _Unreadable
            yield f"{section}.{key.group(1).casefold()}", value


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _value(text: str, position: int) -> tuple[str, int]:
    value: list[str] = []
    quoted = False
    while position < len(text):
        c = text[position]
        if c == "\n":
            if quoted:
                raise _Unreadable
            break
        if c == "\\":
            if text[position + 1 : position + 2] != "\n":
                value.append(text[position + 1 : position + 2])
            position += 2
            continue
        if c == '"':
            quoted = not quoted
        elif c in "#;" and not quoted:
            position = _line_end(text, position)
            break
        else:
            value.append(c)
        position += 1
    return "".join(value), position
