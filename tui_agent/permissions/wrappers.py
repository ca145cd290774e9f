"""Programs that run other programs, looked through so that a deny rule finds what it denies.

This is no boundary: what is built at run time can't be seen. It makes the plain forms of "the same thing,
wrapped" count as the same thing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tui_agent.permissions.mentions import Words, mentions
from tui_agent.permissions.words import names

SHELLS = names("sh bash dash ash zsh ksh mksh fish rbash")
_MAX_DEPTH = 12
_MAX_CHAIN = 100
_MAX_SCRIPTS = 200


class _Wrapper(NamedTuple):
    valued: str = ""
    """Short options that take a value."""
    long: str = ""
    """Long options that take a value as a word of its own."""
    operands: int = 0
    """Words before the command."""


_WRAPPERS = {
    "sudo": _Wrapper(
        "ughpCrtTUDR", "user group host prompt close-from role type command-timeout other-user chdir chroot"
    ),
    "doas": _Wrapper("uC"),
    "pkexec": _Wrapper("", "user"),
    "gosu": _Wrapper(operands=1),
    "su-exec": _Wrapper(operands=1),
    "setpriv": _Wrapper(),
    "env": _Wrapper("uC", "unset chdir"),
    "nohup": _Wrapper(),
    "setsid": _Wrapper(),
    "nice": _Wrapper("n", "adjustment"),
    "ionice": _Wrapper("cnpPu", "class classdata"),
    "chrt": _Wrapper("TPD", operands=1),
    "taskset": _Wrapper(operands=1),
    "timeout": _Wrapper("ks", "kill-after signal", 1),
    "stdbuf": _Wrapper("ioe", "input output error"),
    "unbuffer": _Wrapper(),
    "time": _Wrapper("fo", "format output"),
    "command": _Wrapper(),
    "builtin": _Wrapper(),
    "exec": _Wrapper("a"),
    "coproc": _Wrapper(),
    "chroot": _Wrapper("", "userspec groups", 1),
    "unshare": _Wrapper("SG", "setuid setgid root wd"),
    "nsenter": _Wrapper("tSG", "target setuid setgid"),
    "fakeroot": _Wrapper("lsib"),
    "flock": _Wrapper("wE", "timeout conflict-exit-code", 1),
    "strace": _Wrapper("oespuEabIOPSUX"),
    "ltrace": _Wrapper("oespuanDlx"),
    "systemd-run": _Wrapper(
        "pMuH", "property unit slice uid gid nice working-directory setenv description service-type"
    ),
    "systemd-inhibit": _Wrapper("", "what who why mode"),
    "caffeinate": _Wrapper("tw"),
    "dbus-run-session": _Wrapper("", "config-file"),
    "xvfb-run": _Wrapper("nsefp"),
    "firejail": _Wrapper(),
    "rlwrap": _Wrapper(),
    "catchsegv": _Wrapper(),
    "cpulimit": _Wrapper("l", "limit"),
    "prlimit": _Wrapper(),
    "xargs": _Wrapper(
        "adEILnPs", "arg-file delimiter max-lines max-args max-procs max-chars replace process-slot-var"
    ),
    "parallel": _Wrapper("jaISN", "jobs arg-file delay timeout results joblog colsep"),
    "busybox": _Wrapper(),
    "toybox": _Wrapper(),
    # Keywords, where a command had to be cut out without the parser.
    **{word: _Wrapper() for word in ("then", "else", "do", "if", "elif", "while", "until", "!")},
}
_ENV_SPLIT = re.compile(r"(?:-[A-Za-z0]*?S|--split-string=?)(.*)", re.DOTALL)
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")

NAMES = frozenset(_WRAPPERS) | SHELLS | {"find", "eval", "trap", "watch", "su", "runuser", "script", "git"}
"""Every name that is looked through."""


def base(word: str | None) -> str:
    """The program's name without its folder."""
    return "" if word is None else os.path.basename(word)


class _Search:
    """One line's search: what was found, and what was looked at, so that nothing is looked at twice."""

    def __init__(self) -> None:
        self.found: dict[Words, None] = {}
        self._scripts: set[str] = set()

    def script(self, text: str, depth: int) -> None:
        if depth > _MAX_DEPTH or text in self._scripts or len(self._scripts) > _MAX_SCRIPTS:
            return
        self._scripts.add(text)
        mentioned = mentions(text)
        before = len(self.found)
        for words in mentioned.commands:
            self.command(words, depth)
        added = list(self.found)[before:]
        if any(_reads_script(words) for words in added):
            for words in added:
                if base(words[0]) in ("echo", "printf"):
                    said = " ".join(word for word in words[1:] if word and not word.startswith("-"))
                    self.script(said, depth + 1)
            for fed in mentioned.fed:
                self.script(fed, depth + 1)

    def command(self, words: Words, depth: int) -> None:
        if not words or depth > _MAX_DEPTH or words in self.found:
            return
        self.found[words] = None
        name = base(words[0])
        if name not in NAMES:
            return
        if name in _WRAPPERS:
            inner = _inner(words, _WRAPPERS[name], name in ("env", "sudo", "doas"))
            # A chain of wrappers is as deep as it is long, so it doesn't count as depth.
            self.command(inner, depth if len(words) < _MAX_CHAIN else depth + 1)
        for group in _groups(name, words):
            self.command(group, depth + 1)
        for text in _scripts(name, words):
            self.script(text, depth + 1)


def everything(command: str) -> list[Words]:
    """The words of every command that a line mentions, also inside wrappers and quoted scripts."""
    search = _Search()
    search.script(command, 0)
    return list(search.found)


def _inner(words: Words, wrapper: _Wrapper, assigns: bool) -> Words:
    """What follows the wrapper's own options and operands."""
    i = 1
    while i < len(words):
        word = words[i]
        if word == "--":
            i += 1
            break
        if word is None or not word.startswith("-") or word == "-":
            break
        i += 1
        if word.startswith("--"):
            i += word[2:] in wrapper.long.split()
        else:
            valued = next((n for n, c in enumerate(word[1:], 1) if c in wrapper.valued), None)
            i += valued is not None and valued == len(word) - 1
    i += wrapper.operands
    while assigns and i < len(words) and "=" in (words[i] or ""):
        i += 1
    return words[i:]


def _groups(name: str, words: Words) -> Iterator[Words]:
    """Commands given as words in the middle of a command."""
    if name == "find":
        rest = list(words)
        while starts := [i for i, word in enumerate(rest) if word in _FIND_RUNS][:1]:
            rest = rest[starts[0] + 1 :]
            end = next((n for n, word in enumerate(rest) if word in (";", "+")), len(rest))
            yield tuple(rest[:end])
            rest = rest[end:]
    elif name == "git" and "bisect" in words and "run" in words:
        yield words[words.index("run") + 1 :]


def _scripts(name: str, words: Words) -> Iterator[str]:
    """Shell text given as a word."""
    known = [word or "" for word in words]
    if name in SHELLS or name in ("su", "runuser", "script", "flock"):
        for i, word in enumerate(known[1:], 1):
            if word.startswith("--command="):
                yield word.partition("=")[2]
            elif word == "--command" or (word.startswith("-") and not word.startswith("--") and "c" in word):
                yield next((w for w in known[i + 1 :] if not w.startswith(("-", "+"))), "")
    elif name in ("eval", "watch") or (name == "git" and "foreach" in known):
        start = known.index("foreach") + 1 if name == "git" else 1
        yield " ".join(_without_options(known[start:]))
    elif name == "trap":
        yield next(iter(_without_options(known[1:])), "")
    elif name == "env":
        for i, word in enumerate(known[1:], 1):
            if split := _ENV_SPLIT.fullmatch(word):
                yield " ".join([split.group(1) or "", *known[i + 1 :]])
                break


def _without_options(words: Sequence[str]) -> Sequence[str]:
    i = 0
    while i < len(words) and words[i].startswith("-"):
        i += 1
        if words[i - 1] in ("-n", "--interval") and i < len(words):
            i += 1
    return words[i:]


def _reads_script(words: Words) -> bool:
    """A shell that takes its commands from its input."""
    if base(words[0]) not in SHELLS:
        return False
    rest = [word or "?" for word in words[1:]]
    return not any("c" in w for w in rest if w.startswith("-") and not w.startswith("--")) and (
        all(w.startswith(("-", "+")) for w in rest) or "-s" in rest or "/dev/stdin" in rest
    )
