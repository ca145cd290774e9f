"""A command line as tree-sitter-bash reads it, and the guards that say when it can't be taken literally.

A parser that disagrees with bash is worse than none: it misreads escaped blanks and some keywords, for
example. So only a small part of the language is taken as understood, every byte must belong to a node of a
known kind, and words are unquoted by code of our own. What falls outside is a guard, and a guard asks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tui_agent.permissions.grammar import MISSING, decode, encode, tree
from tui_agent.permissions.mentions import has_many_operators
from tui_agent.permissions.words import Word, names, read_word

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_LENGTH = 10_000
MAX_COMMANDS = 50
MAX_DEPTH = 200
MAX_WORDS = 1_000

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_RESERVED = names(
    "if then elif else fi for while until do done case esac select in function time coproc "
    "{ } ! [[ ]] [ test alias unalias"
)
_BLANK = re.compile(rb"[ \t]*")
_BLANK_OR_NEWLINE = re.compile(rb"[ \t\n]*")
_WORDS = frozenset({"word", "number", "string", "raw_string", "concatenation"})
_HARMLESS = re.compile(r"(2?>[ \t]*/dev/null|2>&1)")


class Simple(NamedTuple):
    """One simple command. `unsafe` says what beside its words keeps it from being allowed."""

    words: tuple[Word, ...]
    unsafe: str = ""

    @property
    def literal(self) -> bool:
        """The program gets exactly these words."""
        return all(word.literal for word in self.words)

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True)
class Script:
    """What a command line says. `guards` are the reasons why `plain` is not the whole truth."""

    guards: tuple[str, ...] = ()
    plain: tuple[Simple, ...] = ()


@lru_cache(maxsize=128)
def parse(command: str) -> Script:
    """Read a command line; never raises."""
    guards = list(_text_guards(command))
    if guards:
        return Script(tuple(guards))
    data = encode(command)
    root = tree(data)
    if root is None:
        return Script((MISSING,))
    reader = _Reader(data)
    reader.program(root)
    return Script(tuple(reader.guards), tuple(reader.commands))


def _text_guards(command: str) -> Iterator[str]:
    if len(command) > MAX_LENGTH:
        yield f"longer than {MAX_LENGTH:,} characters".replace(",", " ")
    if not command.strip():
        yield "empty"
    if _CONTROL.search(command) or (not command.isascii() and any(map(_invisible, set(command)))):
        yield "holds control, invisible or odd blank characters"
    if has_many_operators(command):
        yield f"more than {MAX_COMMANDS} commands"
    if command.count("$(") > MAX_DEPTH:
        yield "nested too deeply"
    if "\\\n" in command:
        yield "a backslash joins lines"
    if "\\ " in command or "\\\t" in command:
        yield "an escaped blank"


def _invisible(c: str) -> bool:
    if c.isascii():
        return False
    category = unicodedata.category(c)
    return category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp") or c in _FILLERS or _selects(c)


def _selects(c: str) -> bool:
    return "\ufe00" <= c <= "\ufe0f" or "\U000e0100" <= c <= "\U000e01ef" or "\u180b" <= c <= "\u180f"


class _Reader:
    """Walks the part of the tree that is taken as understood, and notes the first thing that is not."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.guards: list[str] = []
        self.commands: list[Simple] = []

    def program(self, node: Node) -> None:
        if node.has_error:
            return self._guard("not understood: the syntax is incomplete or unusual")
        if node.child_count > 4 * MAX_COMMANDS:
            return self._guard(f"more than {MAX_COMMANDS} commands")
        self._covered(node, _BLANK_OR_NEWLINE, 0, len(self._data))
        for child in node.children:
            if child.type != ";":
                self._statement(child, 1)
            if self.guards:
                break
        return None

    def _guard(self, reason: str) -> None:
        if not self.guards:
            self.guards.append(reason)

    def _covered(self, node: Node, blank: re.Pattern[bytes], start: int, end: int) -> None:
        """Every byte of the node is in a child, or blank."""
        for child in node.children:
            if not blank.fullmatch(self._data, start, child.start_byte):
                self._guard("some of it is not understood")
            start = child.end_byte
        if not blank.fullmatch(self._data, start, end):
            self._guard("some of it is not understood")

    def _statement(self, node: Node, depth: int) -> None:
        if self.guards:
            return None
        if depth > MAX_DEPTH:
            return self._guard("nested too deeply")
        kind = node.type
        if kind == "command":
            return self._command(node)
        joints = {"list": ("&&", "||"), "pipeline": ("|",)}.get(kind)
        if joints is not None:
            self._covered(node, _BLANK_OR_NEWLINE, node.start_byte, node.end_byte)
            for child in node.children:
                if child.type not in joints:
                    self._statement(child, depth + 1)
            return None
        if kind == "redirected_statement":
            self._covered(node, _BLANK, node.start_byte, node.end_byte)
            first = len(self.commands)
            unsafe = ""
            for child in node.children:
                if child.type == "file_redirect":
                    unsafe = unsafe or self._redirect(child)
                else:
                    self._statement(child, depth + 1)
            if unsafe:
                self.commands[first:] = [simple._replace(unsafe=unsafe) for simple in self.commands[first:]]
                if first == len(self.commands):
                    self.commands.append(Simple((), unsafe))
            return None
        return self._guard(_NAMES.get(kind, f"uses {kind.replace('_', ' ')}"))

    def _command(self, node: Node) -> None:
        if node.child_count > MAX_WORDS:
            return self._guard(f"more than {MAX_WORDS} words".replace(",", " "))
        self._covered(node, _BLANK, node.start_byte, node.end_byte)
        if any(one.end_byte == other.start_byte for one, other in pairwise(node.children)):
            self._guard("words that touch: the parser cuts some words in two")
        words: list[Word] = []
        unsafe = ""
        for child in node.children:
            kind = child.type
            if kind == "command_name":
                child = child.children[0]
                kind = child.type
                if len(child.parent.children if child.parent else ()) != 1:
                    self._guard("some of it is not understood")
            if kind == "variable_assignment":
                unsafe = unsafe or "sets an environment variable"
                if words or not self._literal(child.children[-1]):
                    self._guard("an assignment whose value is only known when it runs")
            elif kind == "file_redirect":
                unsafe = unsafe or self._redirect(child)
            elif kind in _WORDS and self._literal(child):
                words.append(self._word(child))
            else:
                self._guard(_NAMES.get(kind, f"uses {kind.replace('_', ' ')}"))
        if words and words[0].value in _RESERVED:
            self._guard(f"{words[0].value!r} is a keyword")
        if any(word.value is None for word in words):
            self._guard("a word whose value is only known when it runs")
        if any(word.brace for word in words):
            self._guard(_NAMES["brace_expression"])
        self.commands.append(Simple(tuple(words), unsafe))
        if len(self.commands) > MAX_COMMANDS:
            self._guard(f"more than {MAX_COMMANDS} commands")
        return None

    def _redirect(self, node: Node) -> str:
        """Why this redirect is not one of the harmless three, or nothing."""
        text = decode(self._data[node.start_byte : node.end_byte])
        targets = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
        if len(targets) != 1 or not self._literal(targets[0]):
            self._guard("a redirect that is not plain")
        return "" if _HARMLESS.fullmatch(text) else f"redirects: {text}"

    def _literal(self, node: Node) -> bool:
        if node.type == "string":
            return all(child.type in ('"', "string_content") for child in node.children)
        if node.type == "concatenation":
            return all(child.type in _WORDS and self._literal(child) for child in node.children)
        return node.type in _WORDS and not node.children

    def _word(self, node: Node) -> Word:
        return read_word(decode(self._data[node.start_byte : node.end_byte]))


_NAMES = {
    "&": "runs in the background",
    "|&": "joins output and errors in a pipe",
    "!": "negates",
    "command_substitution": "runs a command inside a word",
    "process_substitution": "runs a command behind a file name",
    "simple_expansion": "uses a variable",
    "expansion": "uses a variable",
    "string": "uses a variable or a command inside quotes",
    "concatenation": "uses a variable or a command inside a word",
    "arithmetic_expansion": "computes inside a word",
    "brace_expression": "expands braces",
    "ansi_c_string": "uses ANSI-C quoting",
    "translated_string": "uses a translated string",
    "heredoc_redirect": "uses a here-document",
    "herestring_redirect": "uses a here-string",
    "subshell": "runs in a subshell",
    "compound_statement": "groups commands",
    "function_definition": "defines a function",
    "declaration_command": "sets variables",
    "variable_assignment": "sets a variable",
    "unset_command": "unsets variables",
    "test_command": "evaluates a test",
    "comment": "holds a comment",
    "negated_command": "negates",
}
