"""Everything in a command line that looks like a command, at any depth, whether or not it would run.

Deny rules look here. Taking too much for a command does no harm; so where the parser can't be relied on, or
would take too long, the line is cut up by hand as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import dropwhile, pairwise
from typing import TYPE_CHECKING, NamedTuple

from tui_agent.permissions.grammar import decode, encode, tree
from tui_agent.permissions.words import guess_words

if TYPE_CHECKING:
    from tree_sitter import Node

Words = tuple[str | None, ...]
"""The words of a command, as they likely are when it runs; None if that can't be said."""

MAX_OPERATORS = 1_000
_MAX_PARSED = 200_000
_MAX_WORD = 1_024
_MAX_ODD = 4_096
_OPERATORS = re.compile(r"[;&|\n]")


class Mentions(NamedTuple):
    commands: tuple[Words, ...]
    writes: tuple[str, ...]
    """Where output is redirected to."""
    fed: tuple[str, ...]
    """Texts of here-documents and here-strings: scripts, if a shell reads them."""


def has_many_operators(command: str) -> bool:
    """More than the parser handles in good time; no person writes such a line."""
    return sum(1 for _ in _OPERATORS.finditer(command)) > MAX_OPERATORS


def mentions(command: str) -> Mentions:
    """What `command` mentions; never raises."""
    return _mentions(command.replace("\\\n", ""), os.path.expanduser("~"))


@lru_cache(maxsize=64)
def _mentions(command: str, home: str) -> Mentions:
    commands: dict[Words, None] = {}
    writes: list[str] = []
    fed: list[str] = []
    data = encode(command)
    root = None if has_many_operators(command) or len(data) > _MAX_PARSED else tree(data)
    if root is not None:
        _Collector(data, home, commands, writes, fed).collect(root)
    if root is None or root.has_error or _MISREAD.search(command):
        commands |= dict.fromkeys(_cut(command, home))
        writes += _cut_writes(command)
    return Mentions(tuple(commands), tuple(writes), tuple(fed))


_WORD_KINDS = frozenset(
    {
        "command_name",
        "word",
        "number",
        "string",
        "raw_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "ansi_c_string",
        "translated_string",
        "brace_expression",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "regex",
        "extglob_pattern",
    }
)
_OPAQUE = frozenset({"command_substitution", "process_substitution", "arithmetic_expansion"})


class _Collector(NamedTuple):
    """Walks a tree by a stack of its own: trees may be thousands deep."""

    data: bytes
    home: str
    commands: dict[Words, None]
    writes: list[str]
    fed: list[str]

    def collect(self, root: Node) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            children = node.children
            kind = node.type
            if kind == "command":
                self._command(self._guesses(children))
                self._again(node, touching=True)
            elif kind == "redirected_statement":
                self._after_redirect(children)
                self._again(node, touching=False)
            elif kind == "file_redirect":
                if not any(child.type in ("<", "<&") for child in children):
                    self.writes.extend(word for word in self._guesses(children) if word is not None)
            elif kind == "heredoc_body":
                self.fed.append(decode(self.data[node.start_byte : node.end_byte]))
            elif kind == "herestring_redirect":
                self.fed.extend(word for word in self._guesses(children) if word is not None)
            stack.extend(reversed(children))

    def _command(self, words: Iterable[str | None]) -> None:
        if known := tuple(words):
            self.commands[known] = None

    def _again(self, node: Node, *, touching: bool) -> None:
        """Reads odd words anew: the parser drops escaped blanks, and cuts some words in two."""
        if node.end_byte - node.start_byte > _MAX_ODD:
            return
        odd = False
        for one, other in pairwise(node.children):
            start, end = one.end_byte, other.start_byte
            odd = odd or (touching if start == end else not self.data[start:end].isspace())
        for child in node.children:  # it takes `-n2>` for a descriptor
            if child.type == "file_redirect" and child.children[0].type == "file_descriptor":
                first = child.children[0]
                odd = odd or not self.data[first.start_byte : first.end_byte].isdigit()
        if odd:
            text = _REDIRECT.sub(" ", decode(self.data[node.start_byte : node.end_byte]))
            tokens = dropwhile(_ASSIGNMENT.match, _TOKENS.findall(text))
            self._command(guess for token in tokens for guess in guess_words(token, self.home))

    def _after_redirect(self, children: list[Node]) -> None:
        """The parser hands the words after a redirect to the redirect."""
        redirects = [child for child in children if child.type == "file_redirect"]
        rest = [word for child in redirects for word in list(self._guesses(child.children))[1:]]
        if rest:
            body = next((child.children for child in children if child.type == "command"), [])
            self._command((*self._guesses(body), *rest))

    def _guesses(self, nodes: list[Node]) -> Iterator[str | None]:
        for node in nodes:
            kind = node.type
            if kind == "command_name" and node.child_count == 1:
                node = node.children[0]
                kind = node.type
            if kind in _WORD_KINDS:
                start, end = node.start_byte, node.end_byte
                # Substitutions are walked by themselves; reading them at each level would be quadratic.
                known = kind not in _OPAQUE and end - start <= _MAX_WORD
                if known:
                    yield from guess_words(decode(self.data[start:end]), self.home)
                else:
                    yield None


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_REDIRECT = re.compile(r"(?:(?<=[ \t])\d{1,9})?(?:&>>?|[<>]{1,3}[&|]?)[ \t]{0,99}[^\s;&|<>()]+")
# Where the parser takes the next line, or the next substitution, for the rest of this one.
_MISREAD = re.compile(r"(?:[$<>=~]|``)[ \t]*\n|`[^`]*`[^`]*`")
_SEPARATORS = re.compile(r"[;&|\n(){}<>`]+|\$\(")
_TOKENS = re.compile(r"""(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|['"\\])+""", re.DOTALL)
_WRITES = re.compile(r">[|&]?[ \t]{0,99}([^\s;&|<>(){}]{1,256})")


def _cut(command: str, home: str) -> Iterator[Words]:
    for piece in dict.fromkeys(_SEPARATORS.split(command)):
        tokens = (token.strip("\"'") for token in _TOKENS.findall(piece))
        words = tuple(guess for token in tokens for guess in guess_words(token, home))
        if words:
            yield words


def _cut_writes(command: str) -> Iterator[str]:
    return (match.group(1).strip("\"'") for match in _WRITES.finditer(command))
