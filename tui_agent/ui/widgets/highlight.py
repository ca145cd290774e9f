"""Colours for code, by pygments, which is imported when the first code block comes into view."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tui_agent.ui.widgets.strips import Run

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_STYLES = (
    ("Comment", "italic $text-muted"),
    ("Keyword", "$text-primary"),
    ("Operator.Word", "$text-primary"),
    ("Literal.String", "$text-success"),
    ("Literal.Number", "$text-warning"),
    ("Name.Function", "$text-accent"),
    ("Name.Class", "bold $text-accent"),
    ("Name.Decorator", "$text-accent"),
    ("Name.Tag", "$text-primary"),
    ("Name.Builtin", "$text-secondary"),
    ("Generic.Inserted", "$text-success"),
    ("Generic.Deleted", "$text-error"),
    ("Generic.Heading", "bold"),
    ("Generic.Subheading", "$text-primary"),
)
"""Token types, most of them with all that is below them, and their styles."""


@lru_cache(maxsize=256)
def style_of(token: str) -> str:
    """The style of a pygments token type, named without its leading `Token.`."""
    for name, style in _STYLES:
        if token == name or token.startswith(name + "."):
            return style
    return ""


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def highlighted(text: str, language: str) -> list[tuple[Run, ...]]:
    """The runs of each line. Text of an unknown language is plain; no character is ever changed."""
    lexer = _lexer(language.lower()) if language else None
    if lexer is None:
        return [((line, ""),) for line in text.split("\n")]
    lines: list[list[Run]] = [[]]
    for token, value in lexer.get_tokens(text):
        style = style_of(str(token).removeprefix("Token."))
        for index, part in enumerate(value.split("\n")):
            if index:
                lines.append([])
            if part:
                lines[-1].append((part, style))
    if "\n".join("".join(part for part, _ in line) for line in lines) != text:
        return [((line, ""),) for line in text.split("\n")]
    return [tuple(line) for line in lines]


def warm() -> None:
    """Load what the first code block needs; for a thread, after the first paint."""
    highlighted("def warm(): ...", "python")
