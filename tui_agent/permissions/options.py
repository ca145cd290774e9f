"""Option allow-lists: which options of a program are known to be harmless, and what its operands are.

A list is one line, for example `-qv -n:N --lines:N --color?W digits @paths`:

    -qv         single letters without a value, which may be joined
    -n:N        a letter whose value follows, in the same word or the next
    -M?N        a letter whose value, if any, follows in the same word
    --lines:N   a long option with a value, `--lines=3` or `--lines 3`
    --color?W   a long option with a value only after `=`, or none
    --all       a long option without a value
    digits      `-5` is an option, too
    separate    a letter with a value stands alone, and its value is the next word
    @paths      what the operands are (see `readonly`)

Values: T any text, N a number, W a plain word, P a path. Long options are never abbreviated: a program might
take `--out` for `--output`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

_KINDS = {
    "T": re.compile(r".*", re.DOTALL),
    "P": re.compile(r".+", re.DOTALL),
    "N": re.compile(r"[+-]?\d{1,12}[A-Za-z%]{0,3}"),
    "W": re.compile(r"[A-Za-z0-9,_.-]*"),
}
_TOKEN = re.compile(r"(--?[A-Za-z0-9.@-]+)(?:([:?])([TNWP]))?")


class NotListed(Exception):
    """An option that is not known to be harmless."""


@dataclass
class Arguments:
    """A command's arguments, told apart."""

    options: dict[str, str] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    """Paths that options carry."""

    def has(self, *names: str) -> bool:
        return any(name in self.options for name in names)


@dataclass(frozen=True)
class OptionList:
    """What one program, or one of its subcommands, may be given."""

    flags: frozenset[str]
    valued: dict[str, str]
    optional: dict[str, str]
    operands: str
    digits: bool
    separate: bool

    def read(self, words: Sequence[str]) -> Arguments:
        """Tell options from operands as the program would; raises `NotListed`."""
        arguments = Arguments()
        rest = iter(words)
        for word in rest:
            if word == "--":
                arguments.operands += rest
            elif word == "-" or not word.startswith("-"):
                arguments.operands.append(word)
            elif word.startswith("--"):
                name, equals, value = word.partition("=")
                self._long(name, value if equals else None, rest, arguments)
            elif not (self.digits and re.fullmatch(r"-\d{1,9}", word)):
                self._letters(word, rest, arguments)
        return arguments

    def _long(self, name: str, value: str | None, rest: object, arguments: Arguments) -> None:
        if name in self.valued:
            self._take(name, self.valued[name], _next(rest) if value is None else value, arguments)
        elif name in self.optional:
            self._take(name, self.optional[name], value, arguments)
        elif name in self.flags and value is None:
            arguments.options[name] = ""
        else:
            raise NotListed(f"the option {name} is not on the read-only list")

    def _letters(self, word: str, rest: object, arguments: Arguments) -> None:
        for position, letter in enumerate(word[1:], 2):
            name = f"-{letter}"
            after = word[position:] or None
            if name in self.valued:
                if self.separate and len(word) > 2:
                    raise NotListed(f"{word}: options with a value are only known alone")
                return self._take(name, self.valued[name], _next(rest) if after is None else after, arguments)
            if name in self.optional:
                return self._take(name, self.optional[name], after, arguments)
            if name not in self.flags:
                raise NotListed(f"the option {name} is not on the read-only list")
            arguments.options[name] = ""
        return None

    def _take(self, name: str, kind: str, value: str | None, arguments: Arguments) -> None:
        arguments.options[name] = value or ""
        if value is None:
            return
        if not _KINDS[kind].fullmatch(value):
            raise NotListed(f"the value of {name} is not a plain one")
        if kind == "P":
            arguments.paths.append(value)


def _next(rest: object) -> str | None:
    return next(rest, None)  # type: ignore[call-overload, no-any-return]


@lru_cache(maxsize=256)
def option_list(line: str) -> OptionList:
    """Read the notation above."""
    flags: set[str] = set()
    valued: dict[str, str] = {}
    optional: dict[str, str] = {}
    operands, digits, separate = "paths", False, False
    for token in line.split():
        if token.startswith("@"):
            operands = token[1:]
        elif token == "digits":
            digits = True
        elif token == "separate":
            separate = True
        else:
            match = _TOKEN.fullmatch(token)
            if match is None:
                raise ValueError(f"unreadable option list entry {token!r}")
            name, mark, kind = match.groups()
            if mark is not None:
                (valued if mark == ":" else optional)[name] = kind
            elif name.startswith("--"):
                flags.add(name)
            else:
                flags.update(f"-{letter}" for letter in name[1:])
    return OptionList(frozenset(flags), valued, optional, operands, digits, separate)
