"""Programs that run other programs, looked through so that a deny rule finds what it denies.

This is no boundary: what is built at run time can't be seen. It makes the plain forms of "the same thing,
wrapped" count as the same thing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tui_agent.permissions.syntax import Script, parse
from tui_agent.permissions.words import names

Words = tuple[str | None, ...]

SHELLS = names("sh bash dash ash zsh ksh mksh fish rbash")
_MAX_DEPTH = 12
_MAX_FOUND = 20_000


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
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")

NAMES = frozenset(_WRAPPERS) | SHELLS | {"find", "eval", "trap", "watch", "su", "runuser", "script", "git"}
"""Every name that is looked through."""


def base(word: str | None) -> str:
    """The program's name without its folder."""
    return "" if word is None else os.path.basename(word)


def everything(script: Script) -> list[Words]:
    """The words of every command that a script mentions, also inside wrappers and quoted scripts."""
    found: list[Words] = []
    _script(script, 0, found)
    return found


def _script(script: Script, depth: int, found: list[Words]) -> None:
    if depth > _MAX_DEPTH:
        return
    reads_input = False
    said: list[str] = []
    for simple in script.seen:
        words = tuple(word.guess for word in simple.words)
        start = len(found)
        _command(words, depth, found)
        for seen in found[start:]:
            reads_input = reads_input or _reads_script(seen)
            if base(seen[0]) in ("echo", "printf"):
                said.append(" ".join(word for word in seen[1:] if word and not word.startswith("-")))
    if reads_input:
        for text in (*script.fed, *said):
            _script(parse(text), depth + 1, found)


def _command(words: Words, depth: int, found: list[Words]) -> None:
    if not words or depth > _MAX_DEPTH or len(found) > _MAX_FOUND:
        return
    found.append(words)
    name = base(words[0])
    if name not in NAMES:
        return
    if name in _WRAPPERS:
        _command(_inner(words, _WRAPPERS[name], name in ("env", "sudo", "doas")), depth + 1, found)
    for group in _groups(name, words):
        _command(group, depth + 1, found)
    for text in _scripts(name, words):
        _script(parse(text), depth + 1, found)


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
        for i, word in enumerate(words):
            if word in _FIND_RUNS:
                rest = words[i + 1 :]
                end = next((n for n, w in enumerate(rest) if w in (";", "+")), len(rest))
                yield rest[:end]
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
            if word in ("-S", "--split-string") or (word.startswith("-") and word.endswith("S")):
                yield " ".join(known[i + 1 :])
            elif word.startswith("-S"):
                yield " ".join([word[2:], *known[i + 1 :]])
            elif word.startswith("--split-string="):
                yield " ".join([word.partition("=")[2], *known[i + 1 :]])


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
