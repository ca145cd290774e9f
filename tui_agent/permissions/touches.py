"""What a command would touch, as far as it can be said before it runs: for the person's eyes only.

Nothing is decided by it. Paths are told that deletions, moves and copies name, that globs match now, and
that output is redirected to; folders that go as a whole come with the number of files in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from tui_agent.permissions.mentions import mentions
from tui_agent.permissions.reach import OutOfReach, expand
from tui_agent.permissions.syntax import Script
from tui_agent.permissions.words import Word
from tui_agent.permissions.wrappers import base, everything

MOST = 50
_COUNTED = 1_000
_TAKE_ALL = ("rm", "rmdir", "unlink", "shred", "truncate", "mv", "ln", "tee", "chmod", "chown", "chgrp")
_TAKE_LAST = ("cp", "install", "rsync")
_GLOB = re.compile(r"""[^\s;|&()<>'"$`{}*?]{0,200}[*?][^\s;|&()<>'"$`{}]{0,200}""")
_MOVES_ABOUT = ("cd", "pushd", "popd")


def parts(command: str, script: Script) -> tuple[str, ...]:
    """The commands of a line, one by one; none for a single plain one. … stands for what isn't known yet."""
    plain = [] if script.guards else [simple for simple in script.plain if simple.words]
    texts = [simple.text for simple in plain]
    known = {_values(simple.words) for simple in plain}
    for words in everything(command):
        text = " ".join("…" if word is None else word for word in words)
        wrapped = any(words == values[-len(words) :] for values in known)  # `sudo ls` says it all
        if not wrapped and text not in texts:
            texts.append(text)
    return () if texts in ([], [command.strip()]) else _capped(texts)


def touched(command: str, script: Script, folder: str) -> tuple[str, ...]:
    """The paths, with what else is known of each."""
    if script.guards:
        commands = [tuple(map(_guessed, words)) for words in everything(command)]
        commands.append(tuple(map(_guessed, ("for", *_GLOB.findall(command)))))
    else:
        commands = [simple.words for simple in script.plain if simple.words]
        known = {_values(words) for words in commands}
        commands += [tuple(map(_guessed, words)) for words in everything(command) if words not in known]
    moves = any(words and words[0].value in _MOVES_ABOUT for words in commands)
    found: dict[str, None] = {}
    for words in commands:
        for path in _of_command(words, folder):
            if not moves or os.path.isabs(path):  # elsewhere a relative name is another file
                found[path] = None
    for path in mentions(command).writes:
        if not path.isdigit() and not path.startswith("/dev/") and (not moves or os.path.isabs(path)):
            there = os.path.lexists(os.path.join(folder, path))
            found[path if there else f"{path}  (new)"] = None
    return _capped(list(found))


def _values(words: Sequence[Word]) -> tuple[str | None, ...]:
    return tuple(word.value for word in words)


def _guessed(value: str | None) -> Word:
    text = value or ""
    glob = any(c in text for c in "*?[")
    return Word(text, value, glob, pattern=text)


def _of_command(words: Sequence[Word], folder: str) -> Iterator[str]:
    name, options = base(words[0].value), [word.value or "" for word in words[1:]]
    if name == "find":
        if "-delete" in options or any(base(option) in ("rm", "unlink", "shred") for option in options):
            for start in words[1:]:
                if start.value is None or start.value.startswith(("-", "(", "!")):
                    break
                yield from _with_files(start.value, folder, "below it, those that match")
        return
    whole = name == "rm" and any(
        option in ("--recursive", "-r", "-R")
        or (option.startswith("-") and not option.startswith("--") and "r" in option.lower())
        for option in options
    )
    in_place = name in ("sed", "perl") and any(option.startswith(("-i", "--in-place")) for option in options)
    last = words[-1] if name in _TAKE_LAST and len(words) > 2 else None
    for word in words[1:]:
        if not (word.glob or name in _TAKE_ALL or in_place or word is last):
            continue
        if not word.glob and (word.value or "").startswith("-"):
            continue
        for path in _expanded(word, folder):
            if whole:
                yield from _with_files(path, folder, "in it")
            elif os.path.lexists(os.path.join(folder, path)):
                yield path


def _expanded(word: Word, folder: str) -> list[str]:
    if word.value is None:
        return []
    home = os.path.expanduser("~")
    if word.tilde and (word.value == "~" or word.value.startswith("~/")):
        word = Word(word.text, home + word.value[1:], word.glob, pattern=home + word.pattern[1:])
    try:
        return expand([word._replace(tilde=False)], folder)
    except OutOfReach:
        return []


def _with_files(path: str, folder: str, where: str) -> Iterator[str]:
    full = os.path.join(folder, path)
    if not os.path.isdir(full) or os.path.islink(full):
        if os.path.lexists(full):
            yield path
        return
    files = (name for _, _, names in os.walk(full) for name in names)
    number = sum(1 for _ in islice(files, _COUNTED))
    more = "or more " if number == _COUNTED else ""
    yield f"{path}  ({number:,} {more}{'file' if number == 1 else 'files'} {where})"


def _capped(texts: list[str]) -> tuple[str, ...]:
    if len(texts) <= MOST:
        return tuple(texts)
    return (*texts[:MOST], f"and {len(texts) - MOST:,} more")
