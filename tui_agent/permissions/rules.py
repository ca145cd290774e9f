"""The rule language: `tool`, or `tool(pattern)`.

For `run_command` the pattern is compared word by word with one simple command: words must be equal, a `*`
inside a word stays in that word, and a last ` *` stands for any further words, also none. Quotes work as in
the shell, so a quoted `*` is a star. For the file tools it is a path glob (`*`, `?`, `[…]` within a name,
`**` over folders), relative to the working folder, or absolute, or under `~/`. `write_file(…)` covers
`edit_file`; `read_file(…)` covers `list_files` and `search_files`.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, get_args

from tui_agent.permissions.modes import Verdict

Origin = Literal["user", "command line", "grant", "session", "turn", "project"]
ORIGINS: Mapping[Origin, str] = {
    "user": "your settings file",
    "command line": "the command line",
    "project": "this project's settings",
    "grant": "granted always in this folder",
    "session": "granted for this session",
    "turn": "granted for this turn",
}
COMMAND_TOOL = "run_command"
_COVERS = {"write_file": ("edit_file",), "read_file": ("list_files", "search_files")}
_TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")

Word = str | None
"""A word of a command; None if its value is only known when it runs."""


class RuleError(ValueError):
    """A rule that can't be read: what is wrong, and where."""

    def __init__(self, text: str, position: int, problem: str) -> None:
        super().__init__(f"rule {text!r}, character {position + 1}: {problem}")
        self.text = text
        self.position = position
        self.problem = problem


@dataclass(frozen=True)
class Rule:
    """One rule and where it comes from. Make them with `parse_rule`."""

    verdict: Verdict
    tool: str
    pattern: str | None = None
    origin: Origin = "user"

    @property
    def text(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"

    def covers(self, tool: str) -> bool:
        return tool == self.tool or tool in _COVERS.get(self.tool, ())

    @cached_property
    def _command(self) -> _CommandPattern:
        return _CommandPattern(self.text, self.pattern or "*", len(self.tool) + 1)

    @property
    def hint(self) -> str:
        """A text that every command this rule meets holds, once its quotes are taken off."""
        return self._command.hint

    @property
    def first_word(self) -> str | None:
        """The program that a rule of the command tool names; None for any."""
        return self._command.first

    def matches_words(self, words: Sequence[Word]) -> bool:
        """This rule, of the command tool, is about the simple command `words`."""
        return self._command.matches(words)

    def matches_text(self, command: str) -> bool:
        """The pattern is this very command, operators and all."""
        return self.pattern is not None and self.pattern.strip() == command.strip()

    def matches_path(self, path: str, folder: str, *, within: bool = False) -> bool:
        """The resolved absolute `path` is meant. `within`: or a folder that holds it is."""
        if self.pattern is None:
            return True
        glob, holds = _path_glob(self.pattern, folder)
        return (holds if within else glob).fullmatch(path) is not None


def parse_rule(verdict: Verdict, text: str, origin: Origin = "user") -> Rule:
    """Read one rule, or raise `RuleError`. A project may only make things stricter."""
    text = text.strip()
    if verdict not in get_args(Verdict):
        raise RuleError(text, 0, f"a rule says {', '.join(get_args(Verdict))}, not {verdict!r}")
    name = _TOOL_NAME.match(text)
    if name is None:
        raise RuleError(text, 0, "expected a tool name, as in run_command(git diff *)")
    tool, rest = name.group(), text[name.end() :]
    if origin == "project" and verdict == "allow":
        raise RuleError(text, 0, "a project may only ask or deny; put what you allow in your own settings")
    if not rest:
        return Rule(verdict, tool, None, origin)
    if rest[0] != "(":
        raise RuleError(text, name.end(), f"expected '(' or the end after {tool!r}")
    if rest[-1] != ")":
        raise RuleError(text, len(text), "expected ')' at the end")
    pattern = rest[1:-1].strip()
    if not pattern:
        raise RuleError(
            text, name.end() + 1, f"the pattern is empty; write {tool!r} alone to mean every call"
        )
    rule = Rule(verdict, tool, pattern, origin)
    if tool == COMMAND_TOOL:
        _ = rule._command  # quotes are checked now, not on the first command
    return rule


def quote_word(word: str) -> str:
    """`word` as a rule's pattern writes it, meaning itself only."""
    return shlex.quote(word)


def quote_path(path: str) -> str:
    """`path` as a glob that means itself only."""
    quoted = re.sub(r"([*?[]|^\s+|\s+$)", lambda m: "".join(f"[{c}]" for c in m.group()), path)
    return f"./{quoted}" if path.startswith("~") else quoted


class _CommandPattern:
    """The words of a pattern."""

    def __init__(self, text: str, pattern: str, offset: int) -> None:
        words = _split(text, pattern, offset)
        self.open_end = words[-1] == [None]
        if self.open_end:
            words.pop()
        self._words = [_word_pattern(parts) for parts in words]
        first = self._words[0] if self._words else ""
        self.first = first if isinstance(first, str) and first else None
        self.hint = os.path.basename(first).rstrip("\\'\"") if isinstance(first, str) else ""

    def matches(self, words: Sequence[Word]) -> bool:
        if len(words) < len(self._words) or (len(words) > len(self._words) and not self.open_end):
            return False
        return all(
            word is not None and (word == pattern if isinstance(pattern, str) else pattern.fullmatch(word))
            for word, pattern in zip(words, self._words, strict=False)
        )


def _word_pattern(parts: list[str | None]) -> str | re.Pattern[str]:
    if None not in parts:
        return "".join(part for part in parts if part is not None)
    return re.compile("".join(".*" if part is None else re.escape(part) for part in parts), re.DOTALL)


def _split(text: str, pattern: str, offset: int) -> list[list[str | None]]:
    """The pattern's words, each as literal pieces and None for a star."""
    words: list[list[str | None]] = []
    word: list[str | None] | None = None
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c.isspace():
            if word is not None:
                words.append(word)
            word = None
            i += 1
            continue
        word = [] if word is None else word
        if c in "'\"":
            end = pattern.find(c, i + 1)
            if end < 0:
                raise RuleError(text, offset + i, f"the quote {c} is not closed")
            word.append(pattern[i + 1 : end])
            i = end
        elif c == "\\" and i + 1 < len(pattern):
            i += 1
            word.append(pattern[i])
        elif c == "*":
            word.append(None)
        else:
            word.append(c)
        i += 1
    if word is not None:
        words.append(word)
    return words


@lru_cache(maxsize=512)
def _path_glob(pattern: str, folder: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What matches the pattern, and what does so or lies in a folder that does."""
    if pattern == "~" or pattern.startswith("~/"):
        pattern = re.escape(os.path.expanduser("~")) + _glob_regex(pattern[1:])
    elif pattern.startswith("/"):
        pattern = _glob_regex(pattern)
    else:
        while pattern.startswith("./"):
            pattern = pattern[2:]
        pattern = re.escape(folder.rstrip("/")) + _glob_regex("/" + pattern)
    glob = re.compile(pattern, re.DOTALL)
    everything = glob.fullmatch("/") is not None
    return glob, re.compile(".*" if everything else f"(?:{pattern})(?:/.*)?", re.DOTALL)


def _glob_regex(glob: str) -> str:
    """`glob`, beginning with '/', as a regular expression. `/**` also stands for the folder itself."""
    if glob.endswith("/") and glob != "/":
        glob += "**"
    out = []
    for part in glob.split("/")[1:]:
        if part == "**":
            out.append(r"(?:/.+)?")
        elif part not in ("", "."):
            out.append("/" + "".join(map(_glob_piece, re.findall(r"\[[!^]?\]?[^]/]*\]|.", part, re.DOTALL))))
    return "".join(out) or "/"


def _glob_piece(piece: str) -> str:
    if piece == "*":
        return "[^/]*"
    if piece == "?":
        return "[^/]"
    if len(piece) > 1:
        negated = piece[1] in "!^"
        body = piece[2 if negated else 1 : -1].replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
        return f"[{'^/' if negated else ''}{body.replace('^', chr(92) + '^')}]"
    return re.escape(piece)
