"""One word of a command: what it is after the shell's quote removal, if that can be said beforehand."""

from __future__ import annotations

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
_BRACES = re.compile(r"(?<![$\\])\{([^{}'\"\\]*,[^{}'\"\\]*)\}")
_MAX_BRACES = 50
_DOUBLE_ESCAPE = re.compile(r'\\([$`"\\\n])')


def names(text: str) -> frozenset[str]:
    """A set of names, written as one text."""
    return frozenset(text.split())


class Word(NamedTuple):
    """`value` is None if only the shell knows it. `glob`, `tilde`, `brace`: it holds such, unquoted.

    `pattern` is the word with what was quoted escaped, so that only unquoted `*?[` are live.
    """

    text: str
    value: str | None
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
    plain = _simple(text)
    if plain is not None:
        return Word(text, plain)
    value, pattern = _unquote(text)
    if value is None:
        return Word(text, None)
    return Word(text, value, *_marks(text), pattern)


def guess_word(text: str, home: str) -> str | None:
    """What the word likely becomes when it runs, for deny rules: `~` and `$HOME` are filled in."""
    plain = _simple(text)
    if plain is not None:
        return plain
    text = _HOME.sub(lambda _: home, text)
    value, _pattern = _unquote(text)
    if value is None or not (text == "~" or text.startswith("~/")):
        return value
    return home + value[1:]


def guess_words(text: str, home: str) -> list[str | None]:
    """`guess_word` for each of the words that a brace expansion makes of this one."""
    if "{" not in text or "," not in text:
        return [guess_word(text, home)]
    return [guess_word(word, home) for word in _braces(text)[:_MAX_BRACES]]


def _braces(text: str) -> list[str]:
    words = [text]
    for _ in range(_MAX_BRACES):
        first = next((match for word in words if (match := _BRACES.search(word))), None)
        if first is None or len(words) > _MAX_BRACES:
            break
        at = words.index(first.string)
        before, after = first.string[: first.start()], first.string[first.end() :]
        words[at : at + 1] = [before + part + after for part in first.group(1).split(",")]
    return words


def _simple(text: str) -> str | None:
    """The common cases: nothing special in it, or one pair of quotes around nothing special."""
    if _PLAIN.fullmatch(text):
        return text
    quoted = _QUOTED.fullmatch(text)
    return quoted.group(quoted.lastindex or 0) if quoted else None


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


def _marks(text: str) -> tuple[bool, bool, bool]:
    """Whether a glob is live, a tilde may be expanded, a brace may be expanded."""
    glob = tilde = brace = False
    before = ""
    for match in _PIECE.finditer(text):
        kind = match.lastgroup
        glob = glob or kind == "glob"
        brace = brace or kind == "brace"
        # Bash also expands a tilde after '=' or ':' in a word that looks like an assignment.
        tilde = tilde or (kind == "tilde" and (before == "" or before[-1] in "=:"))
        before = match.group()
    return glob, tilde, brace and text != "{}"
