"""One word of a command: what it is after the shell's quote removal, if that can be said beforehand."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

_PLAIN = re.compile(r"[A-Za-z0-9_./:,+@%^-]+")
_QUOTED = re.compile(r"""'([^'*?\[\]]*)'|"([^"\\$`*?\[\]]*)\"""")
_HOME = re.compile(r"\$(?:HOME\b|\{HOME\})")
_PIECE = re.compile(
    r"""
      (?P<plain>[^\s'"\\$`*?\[\]{}~()<>|&;]+)
    | '(?P<single>[^']*)'
    | "(?P<double>(?:[^"\\$`]|\\.)*)"
    | \\(?P<escaped>.)
    | (?P<glob>[*?\[\]])
    | (?P<brace>[{}])
    | (?P<tilde>~)
    """,
    re.VERBOSE | re.DOTALL,
)
_DOUBLE_ESCAPE = re.compile(r'\\([$`"\\\n])')


def names(text: str) -> frozenset[str]:
    """A set of names, written as one text."""
    return frozenset(text.split())


class Word(NamedTuple):
    """`value` is None if only the shell knows it. `glob`, `tilde`: it holds such, unquoted.

    `guess` is for deny rules, which look at what the word likely becomes: `~` and `$HOME` are filled in.
    `pattern` is the word with what was quoted escaped, so that only unquoted `*?[` are live.
    """

    text: str
    value: str | None
    guess: str | None
    glob: bool = False
    tilde: bool = False
    brace: bool = False
    pattern: str = ""

    @property
    def literal(self) -> bool:
        """The program gets exactly `value`."""
        return self.value is not None and not (self.glob or self.tilde)


def read_word(text: str) -> Word:
    """Take the quotes off one word, given as it is written."""
    if _PLAIN.fullmatch(text):
        return Word(text, text, text)
    if quoted := _QUOTED.fullmatch(text):
        inner = quoted.group(quoted.lastindex or 0)
        return Word(text, inner, inner)
    value, pattern = _unquote(text)
    if value is None:
        filled = _HOME.sub(lambda _: os.path.expanduser("~"), text)
        return Word(text, None, _unquote(filled)[0] if filled != text else None)
    bare, glob, tilde, brace = _marks(text)
    guess = os.path.expanduser(value) if bare else value
    return Word(text, value, guess, glob, tilde, brace, pattern)


def _unquote(text: str) -> tuple[str | None, str]:
    value, pattern, position = [], [], 0
    while position < len(text):
        match = _PIECE.match(text, position)
        if match is None:
            return None, ""
        position = match.end()
        kind, piece = match.lastgroup, match.group(match.lastgroup or 0)
        if kind == "double":
            piece = _DOUBLE_ESCAPE.sub(lambda m: "" if m.group(1) == "\n" else m.group(1), piece)
        value.append(piece)
        pattern.append(piece if kind in ("plain", "glob") else re.sub(r"([*?\[\]])", r"[\1]", piece))
    return "".join(value), "".join(pattern)


def _marks(text: str) -> tuple[bool, bool, bool, bool]:
    """Whether a tilde leads, a glob is live, a tilde may be expanded, a brace may be expanded."""
    glob = tilde = brace = False
    before = ""
    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        glob = glob or kind == "glob"
        brace = brace or kind == "brace"
        # Bash also expands a tilde after '=' or ':' in a word that looks like an assignment.
        tilde = tilde or (kind == "tilde" and (before == "" or before[-1] in "=:"))
        before = match.group()
    return text.startswith("~"), glob, tilde, brace and text != "{}"


def guess_word(text: str) -> str | None:
    """What the word likely becomes, for those who need no more."""
    if _PLAIN.fullmatch(text):
        return text
    quoted = _QUOTED.fullmatch(text)
    return quoted.group(quoted.lastindex or 0) if quoted else read_word(text).guess
