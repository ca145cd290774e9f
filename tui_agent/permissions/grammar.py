"""tree-sitter-bash, loaded on first use. Without it every command asks."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MISSING = "the command parser is missing (install tree-sitter and tree-sitter-bash)"


@lru_cache(maxsize=1)
def language() -> Language | None:
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError:
        return None
    return tree_sitter.Language(tree_sitter_bash.language())


@lru_cache(maxsize=8)
def tree(data: bytes) -> Node | None:
    """The syntax tree of a command line, None without the parser."""
    bash = language()
    if bash is None:
        return None
    from tree_sitter import Parser

    return Parser(bash).parse(data).root_node  # a parser of its own: threads may not share one


def encode(command: str) -> bytes:
    return command.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")
