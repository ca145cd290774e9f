"""tree-sitter-bash, loaded on first use. Without it every command asks."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MISSING = "the command parser is missing (install tree-sitter and tree-sitter-bash)"


@lru_cache(maxsize=1)
def parser() -> Parser | None:
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


@lru_cache(maxsize=8)
def tree(data: bytes) -> Node | None:
    """The syntax tree of a command line, None without the parser."""
    loaded = parser()
    return None if loaded is None else loaded.parse(data).root_node


def encode(command: str) -> bytes:
    return command.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")
