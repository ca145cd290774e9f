"""Markdown, laid out as rows for one width.

HTML is off, so `Vec<String>` and `<div>` are text, and so are link definitions. The source has gone through
`visible` before. Links are underlined text with their whole address behind it; nothing here opens them.
Code blocks and tables that are longer than the cap end in a row that says how much is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tui_agent.text import plural
from tui_agent.ui.widgets.markdown_table import table_rows
from tui_agent.ui.widgets.rows import Code, Margin, MoreRow, TextRow, code_rows, flow
from tui_agent.ui.widgets.strips import Run
from tui_agent.ui.widgets.wrap import untabbed

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CAP = 60
"""Lines of a code block or table that are shown before it is expanded."""

DEEPEST = 60
"""Levels of nesting."""
LONGEST = 10_000
"""Characters of a paragraph in which marks are looked for."""

_MARKS = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_HEADINGS = {"h1": "bold underline $text-primary", "h2": "bold $text-primary", "h3": "bold"}
_MUTED = "$text-muted"


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return (
        MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
        .enable(["table", "strikethrough"])
        .disable("reference")
    )


def warm() -> None:
    """Load the parser; for a thread, after the first paint."""
    parser().parse("a *b* `c`\n\n- d\n\n| e |\n| - |\n")


def markdown_rows(source: str, width: int, *, expanded: bool = False) -> list[TextRow]:
    """`source` as rows, with a blank row between blocks and none around them.

    The parser leaves out what is nested too deep; then the source is shown as it is.
    """
    tokens = _tokens(source)
    if any(token.level >= DEEPEST - 2 for token in tokens):
        return flow(((untabbed(source), ""),), Margin.plain(), width)
    return _Layout(width, expanded).blocks(tokens, Margin.plain())


def _tokens(source: str) -> list[Token]:
    """The tokens of `source`; a very long paragraph stays plain, since some take time by its square."""
    md = parser()
    tokens: list[Token] = []
    md.block.parse(source, md, {}, tokens)
    for token in tokens:
        if token.type == "inline":
            token.children = []
            if len(token.content) <= LONGEST:
                md.inline.parse(token.content, md, {}, token.children)
            else:
                token.children.append(replace(token, type="text", children=None))
    return tokens


class _Layout:
    def __init__(self, width: int, expanded: bool) -> None:
        self.width = width
        self.expanded = expanded

    def blocks(self, tokens: Sequence[Token], margin: Margin, *, tight: bool = False) -> list[TextRow]:
        rows: list[TextRow] = []
        for token, inner in _children(tokens):
            block = self._block(token, inner, margin)
            if rows and block and not tight:
                rows.append(TextRow(margin.rest, margin.width))
            rows += block
        return rows

    def _block(self, token: Token, inner: Sequence[Token], margin: Margin) -> list[TextRow]:
        match token.type:
            case "paragraph_open":
                return flow(inline(inner[0].children or ()), margin, self.width)
            case "heading_open":
                style = _HEADINGS.get(token.tag, "bold $text-muted")
                return flow(inline(inner[0].children or (), style), margin, self.width)
            case "fence":
                return self._code(token.content, token.info.split(maxsplit=1)[:1], margin)
            case "code_block":
                return self._code(token.content, [], margin)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token, inner, margin)
            case "blockquote_open":
                return self.blocks(inner, margin.bar("│ ", _MUTED))
            case "table_open":
                rows, left_out = table_rows(_cells(inner), margin, self.width, None if self.expanded else CAP)
                return rows + self._more(left_out, "row", margin)
            case "hr":
                prefix, gutter = margin.take()
                rule = "─" * max(3, min(40, self.width - margin.width))
                return [TextRow((*prefix, (rule, _MUTED)), gutter)]
            case _:
                return flow(((untabbed(token.content), ""),), margin, self.width) if token.content else []

    def _code(self, text: str, language: list[str], margin: Margin) -> list[TextRow]:
        code = Code(untabbed(text.removesuffix("\n")), "".join(language))
        count = len(code.lines)
        shown = count if self.expanded or count <= CAP + CAP // 4 else CAP
        rows = code_rows(code, range(shown), margin, self.width, code.language)
        return rows + self._more(count - shown, "line", margin)

    def _more(self, left_out: int, noun: str, margin: Margin) -> list[TextRow]:
        if not left_out:
            return []
        prefix, _ = margin.take()
        return [MoreRow(prefix, f"… {plural(left_out, f'more {noun}')} · Enter shows all")]

    def _list(self, token: Token, inner: Sequence[Token], margin: Margin) -> list[TextRow]:
        items = list(_children(inner))
        ordered = token.type == "ordered_list_open"
        number = int(token.attrs.get("start", 1)) if ordered else 0
        last = f"{number + len(items) - 1}{token.markup} "
        tight = not any(
            t.type == "paragraph_open" and not t.hidden and t.level == token.level + 2 for t in inner
        )
        rows: list[TextRow] = []
        for _, content in items:
            mark = f"{number}{token.markup} ".rjust(len(last)) if ordered else "• "
            number += 1
            if rows and not tight:
                rows.append(TextRow(margin.rest, margin.width))
            item = margin.item(mark, "$text-primary")
            rows += self.blocks(content, item, tight=tight) or flow((), item, self.width)
        return rows


def inline(tokens: Sequence[Token], style: str = "") -> list[Run]:
    """The runs of a paragraph; a hard break is a newline."""
    runs: list[Run] = []
    marks: list[str] = [style] if style else []
    href = ""
    shown = ""
    for token in tokens:
        kind, text = token.type, token.content
        if kind in _MARKS:
            marks.append(_MARKS[kind])
        elif kind in ("strong_close", "em_close", "s_close"):
            marks.pop()
        elif kind == "link_open":
            href, shown = str(token.attrs.get("href", "")), ""
            marks.append("underline $text-primary")
        elif kind == "link_close":
            marks.pop()
            if href not in (shown, f"mailto:{shown}", f"http://{shown}"):
                runs.append((f" ({href})", _MUTED))
            href = ""
        elif kind == "code_inline":
            runs.append((text, " ".join([*marks, "$text-accent"])))
        elif kind == "image":
            runs.append((f"[image: {text or 'no text'}] ({token.attrs.get('src', '')})", _MUTED))
        elif kind == "softbreak":
            runs.append((" ", " ".join(marks)))
        elif kind == "hardbreak":
            runs.append(("\n", ""))
        elif text:
            runs.append((untabbed(text), " ".join(marks)))
        shown += text
    return runs


def _children(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    """Each block at the outermost level with the tokens inside it."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        end = index
        if token.nesting == 1:
            end = next(
                i
                for i in range(index + 1, len(tokens))
                if tokens[i].level == token.level and tokens[i].nesting < 0
            )
        yield token, tokens[index + 1 : end]
        index = end + 1


def _cells(tokens: Sequence[Token]) -> list[list[tuple[list[Run], str]]]:
    """The rows of a table, the head first: runs of each cell and its alignment."""
    table: list[list[tuple[list[Run], str]]] = []
    for index, token in enumerate(tokens):
        if token.type == "tr_open":
            table.append([])
        elif token.type in ("th_open", "td_open"):
            align = str(token.attrs.get("style", "")).removeprefix("text-align:") or "left"
            style = "bold" if token.type == "th_open" else ""
            table[-1].append((inline(tokens[index + 1].children or (), style), align))
    return table
