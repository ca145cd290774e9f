"""What is refused in every mode, even when everything else is allowed.

It guards against accidents: a task that deletes the home folder, overwrites a disk or turns the machine off.
It is no protection from malice, since a program can be built at run time.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Sequence

from tui_agent.permissions.mentions import Words, mentions
from tui_agent.permissions.words import names
from tui_agent.permissions.wrappers import base

_SYSTEM = names("""
    / /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /opt /proc /root /run /sbin /srv /sys /usr /var
    /usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share /usr/include /var/lib /var/log /etc/ssh
    /Applications /Library /System /Users /Volumes /private /private/etc /private/var
    """)
_DISK = re.compile(
    r"/dev/(?:(?:[shv]d|xvd)[a-z]+\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+)?|r?disk\d+(?:s\d+)*|md\d+|dm-\d+"
    r"|(?:mapper|disk)/.+|loop\d+|mem|kmem|port)"
)
_POWER = names("shutdown reboot halt poweroff")
_POWER_VERBS = names("poweroff reboot halt kexec soft-reboot suspend hibernate hybrid-sleep")
_MAKES_FILE_SYSTEM = re.compile(r"mkfs(\..+)?|mke2fs|mkswap|wipefs|blkdiscard|newfs(_.+)?")
_CHANGES_MODE = names("chmod chown chgrp setfacl")
_WRITES_LAST = names("tee cp mv install shred truncate sgdisk sfdisk fdisk parted")
_FIND_TESTS = re.compile(
    r"-(i?name|i?path|i?wholename|i?regex|i?lname|[acm](time|min)|size|newer.*|user|group|empty|perm)"
)

HINT = re.compile(
    r"rm\b|dd\b|find\b|\bmk(?:fs|e2fs|swap)|newfs|wipefs|blkdiscard|shutdown|reboot|halt|poweroff|init\b"
    r"|systemctl|ch(?:mod|own|grp)\b|setfacl|/dev/|sysrq|\(\s*\)|\bfunction\b"
)
"""A command without any of these, quotes and backslashes taken off, can't be denied here."""


def builtin_deny(command: str, commands: Sequence[Words], folder: str) -> str | None:
    """Why the command is refused whatever the rules say, or None."""
    places = [folder, *_moves(commands, folder)]
    for words in commands:
        if reason := _command(words, places):
            return reason
    for target in mentions(command).writes:
        if _DISK.fullmatch(os.path.normpath(target)) or target == "/proc/sysrq-trigger":
            return f"overwrites {target}"
    return "a fork bomb" if _is_fork_bomb(command) else None


def _command(words: Words, places: list[str]) -> str | None:
    name, rest = base(words[0]), words[1:]
    if name == "rm" and _has_option(rest, "rR", "--recursive"):
        for target in _operands(rest):
            if place := _precious(target, places):
                return f"deletes {place} and everything below it"
    if name == "find" and "-delete" in rest and not any(_filters(word) for word in rest):
        for target in rest:
            if target is not None and target.startswith("-"):
                break
            if place := _precious(target, places):
                return f"deletes what is below {place}"
    if name in _CHANGES_MODE and _has_option(rest, "R", "--recursive"):
        for target in _operands(rest):
            place = _precious(target, places)
            if place in _SYSTEM:
                return f"changes the access to everything below {place}"
    if name in _POWER or (name in ("init", "telinit") and rest[:1] in (("0",), ("6",))):
        return "turns the machine off"
    if name == "systemctl" and _POWER_VERBS.intersection(word or "" for word in rest):
        return "turns the machine off"
    if _MAKES_FILE_SYSTEM.fullmatch(name) and rest:
        return "overwrites a file system"
    if name == "dd":
        for word in rest:
            if word and word.startswith("of=") and _DISK.fullmatch(os.path.normpath(word[3:])):
                return f"overwrites {word[3:]}"
    if name in _WRITES_LAST and rest:
        for word in rest if name in ("tee", "shred") else rest[-1:]:
            if word and _DISK.fullmatch(os.path.normpath(word)):
                return f"overwrites {word}"
    return None


def _filters(word: str | None) -> bool:
    """A test of find's that picks some files out of all."""
    return word is not None and re.fullmatch(_FIND_TESTS, word) is not None


def _has_option(words: Words, letters: str, name: str) -> bool:
    for word in words:
        if word == "--":
            return False
        if word is None or not word.startswith("-"):
            continue
        if word.startswith("--"):
            if len(word) > 4 and name.startswith(word):
                return True
        elif any(letter in word for letter in letters):
            return True
    return False


def _operands(words: Words) -> Iterator[str | None]:
    options = True
    for word in words:
        if options and word == "--":
            options = False
        elif word is None or not options or not word.startswith("-"):
            yield word


def _moves(commands: Iterable[Words], folder: str) -> list[str]:
    """Folders that `cd` may have gone to before a relative path counts."""
    places = []
    for words in commands:
        if base(words[0]) in ("cd", "pushd"):
            target = next((w for w in words[1:] if w is not None and not w.startswith("-")), None)
            places.append(os.path.normpath(os.path.join(folder, target or os.path.expanduser("~"))))
    return places[:20]


def _precious(target: str | None, places: list[str]) -> str | None:
    """The system folder or home that `target` names, or holds, or whose whole content it names."""
    if not target:
        return None
    for place in places:
        path = os.path.normpath(os.path.join(place, target))
        path = "/" + path.lstrip("/")
        # A last name of only stars means everything in the folder.
        while path != "/" and re.fullmatch(r"\.?\*+|\*\.\*|\?+|\[.*", os.path.basename(path)):
            path = os.path.dirname(path)
        if found := _is_precious(path):
            return found
    return None


def _is_precious(path: str) -> str | None:
    homes = {os.path.expanduser("~"), os.path.realpath(os.path.expanduser("~"))}
    for home in homes:
        if path == home or home.startswith(path.rstrip("/") + "/"):
            return path
    if path in _SYSTEM or os.path.dirname(path) in ("/home", "/Users"):
        return path
    if any(c in path for c in "*?["):
        depth = path.count("/")
        return next((s for s in _SYSTEM if s.count("/") == depth and fnmatch.fnmatchcase(s, path)), None)
    real = os.path.realpath(path)
    return real if real != path and (real in _SYSTEM or real in homes) else None


_FUNCTION_BODY = re.compile(r"\(\s{0,9}\)\s{0,9}[{(]|\bfunction\s")
_NAME_BEFORE = re.compile(r"([^\s(){};|&<>]{1,64})\s{0,9}$")
_NAME_AFTER = re.compile(r"\s{0,9}([^\s(){};|&<>]{1,64})(?:\s{0,9}\(\s{0,9}\))?\s{0,9}\{")


def _is_fork_bomb(command: str) -> bool:
    """A function whose body starts itself twice at once, or in the background."""
    for match in _FUNCTION_BODY.finditer(command):
        if match.group().startswith("function"):
            name = _NAME_AFTER.match(command, match.end())
            body = name.end() if name else 0
        else:
            name = _NAME_BEFORE.search(command[max(0, match.start() - 80) : match.start()])
            body = match.end()
        if name is None:
            continue
        called = re.escape(name.group(1))
        text = command[body : body + 400].partition("}")[0]
        again = rf"(?:^|[\s;|&({{]){called}"
        if re.search(rf"{again}\s{{0,9}}\|&?\s{{0,9}}{called}(?=[\s;|&)}}]|$)", text):
            return True
        if re.search(rf"{again}\s{{0,9}}&(?!&)", text):
            return True
    return False
