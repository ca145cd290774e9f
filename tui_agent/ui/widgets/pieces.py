"""What a conversation is made of on screen: one piece a prompt, closed Markdown block, call or note.

A piece knows its source and lays itself out as rows for a width. It keeps the rows and the strips of those
rows while it is or was just in view; its height for the last width stays known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from textual.strip import Strip

from tui_agent.text import one_line, plural, visible
from tui_agent.ui.widgets.live_block import LiveBlock
from tui_agent.ui.widgets.markdown_rows import markdown_rows
from tui_agent.ui.widgets.rows import Margin, MoreRow, TextRow, flow
from tui_agent.ui.widgets.wrap import untabbed

MUTED = "$text-muted"
PROMPT_CAP = 20
"""Rows of a prompt that are shown before it is expanded."""

NoteKind = Literal["note", "warning", "error", "stopped"]
CallState = Literal["running", "asks", "job", "done", "failed", "declined", "stopped"]

_NOTES: dict[NoteKind, tuple[str, str]] = {
    "note": ("· ", MUTED),
    "warning": ("! ", "$text-warning"),
    "error": ("✗ ", "$text-error"),
    "stopped": ("■ ", "$text-warning"),
}
_CALLS: dict[CallState, tuple[str, str]] = {
    "running": ("› ", "$text-primary"),
    "asks": ("? ", "bold $text-warning"),
    "job": ("& ", "$text-primary"),
    "done": ("✓ ", "$text-success"),
    "failed": ("✗ ", "bold $text-error"),
    "declined": ("– ", "$text-warning"),
    "stopped": ("■ ", "$text-warning"),
}


class Piece:
    """`gap`: blank rows above. `height` counts them, and is an estimate until `settle` was called."""

    gap = 1
    expandable = False

    def __init__(self, source: str) -> None:
        self.source = source
        self.expanded = False
        self.width = 0
        self.height = self.gap + 1
        self.strips: dict[int, Strip] = {}
        self._rows: list[TextRow] | None = None

    def layout(self, width: int) -> list[TextRow]:
        raise NotImplementedError

    def estimate(self, width: int) -> None:
        """A first guess of the height, for a piece that isn't in view."""
        self.height = self.gap + 1 + self.source.count("\n") + len(self.source) // max(20, width)

    def settle(self, width: int) -> list[TextRow]:
        """The rows for `width`, without the gap; `height` is exact from now on."""
        if self._rows is None or self.width != width:
            self._rows = self._laid_out(width)
            if self.width != width:
                self.strips.clear()
            self.width = width
            self.height = self.gap + len(self._rows)
        return self._rows

    def _laid_out(self, width: int) -> list[TextRow]:
        try:
            return self.layout(width)
        except Exception:
            # One piece that can't be laid out must not take the screen with it; its text still shows.
            return flow(((untabbed(visible(self.searched())), ""),), Margin.plain(), width)

    def touch(self) -> None:
        """Something about it changed: lay it out anew when it is next looked at."""
        self.width = 0
        self.release()

    def release(self) -> None:
        """Drop what can be made again."""
        self._rows = None
        self.strips.clear()

    def copied(self) -> str:
        return self.source

    def searched(self) -> str:
        return self.source


class PromptPiece(Piece):
    def layout(self, width: int) -> list[TextRow]:
        margin = Margin((("› ", "bold $text-primary"),), (("  ", ""),), 2)
        rows = flow(((untabbed(visible(self.source)), "bold"),), margin, width)
        if len(rows) <= PROMPT_CAP + 5:
            return rows
        self.expandable = True
        if self.expanded:
            return rows
        more = f"… {plural(len(rows) - PROMPT_CAP, 'more row')} · Enter shows all"
        return [*rows[:PROMPT_CAP], MoreRow(margin.rest, more)]


class MarkdownPiece(Piece):
    """A closed block of an answer; the source went through `visible`."""

    def layout(self, width: int) -> list[TextRow]:
        rows = markdown_rows(self.source, width, expanded=self.expanded)
        self.expandable = self.expanded or any(isinstance(row, MoreRow) for row in rows)
        return rows


class LivePiece(Piece):
    """The open block of an answer."""

    def __init__(self, width: int) -> None:
        super().__init__("")
        self.height = 0
        self.block = LiveBlock(width)

    def estimate(self, width: int) -> None:
        self.height = self.gap + len(self.block.rows) if self.block.rows else 0

    def settle(self, width: int) -> list[TextRow]:
        rows = super().settle(width)
        self.estimate(width)
        return rows

    def layout(self, width: int) -> list[TextRow]:
        if self.block.width != width:
            self.block.rewrap(width)
        self.source = self.block.source
        return self.block.rows

    def grown(self, width: int, kept: int) -> None:
        """Rows from `kept` on are others now."""
        strips = {y: strip for y, strip in self.strips.items() if y < self.gap + kept}
        self.width = 0
        self.settle(width)
        self.strips = strips


class ThinkingPiece(Piece):
    expandable = True

    def __init__(self, source: str, done: bool = True) -> None:
        super().__init__(source)
        self.done = done

    def layout(self, width: int) -> list[TextRow]:
        count = plural(len(self.source.split()), "word")
        line = f"· {'thought' if self.done else 'thinking'}, {count}"
        rows = [TextRow((("  ", ""), (line, MUTED)), 2)]
        if self.expanded:
            margin = Margin.plain(4)
            rows += flow(((untabbed(visible(self.source)), f"italic {MUTED}"),), margin, width)
        return rows


@dataclass(frozen=True)
class CallLine:
    """What the one line of a call says; `detail` opens below it."""

    name: str
    subject: str = ""
    state: CallState = "running"
    facts: str = ""
    detail: str = field(default="", repr=False)


class CallPiece(Piece):
    gap = 0
    expandable = True

    def __init__(self, call_id: str, line: CallLine) -> None:
        super().__init__("")
        self.call_id = call_id
        self.line = line

    def layout(self, width: int) -> list[TextRow]:
        call = self.line
        mark, style = _CALLS[call.state]
        name = one_line(call.name, max(8, width // 3))
        facts = f"  {call.facts}" if call.facts else ""
        room = max(0, width - 5 - len(name) - len(facts))
        subject = one_line(call.subject, room, keep="tail" if call.subject.startswith("/") else "head")
        rows = [TextRow((("  ", ""), (mark, style), (name, "bold"), (f" {subject}", ""), (facts, MUTED)), 2)]
        if self.expanded and call.detail:
            for line in untabbed(visible(call.detail)).split("\n"):
                rows += flow(((line, _detail_style(line)),), Margin.plain(6), width)
        return rows

    def copied(self) -> str:
        return self.line.detail or self.searched()

    def searched(self) -> str:
        return f"{self.line.name} {self.line.subject}"


class NotePiece(Piece):
    """A word of ours: a cut, a stop, an error with its hint."""

    def __init__(self, source: str, kind: NoteKind = "note", hint: str = "") -> None:
        super().__init__(source)
        self.kind = kind
        self.hint = hint

    def layout(self, width: int) -> list[TextRow]:
        mark, style = _NOTES[self.kind]
        margin = Margin.plain().item(mark, style)
        rows = flow(((untabbed(visible(self.source)), style),), margin, width)
        if self.hint:
            rows += flow(((untabbed(visible(self.hint)), MUTED),), margin, width)
        return rows


def _detail_style(line: str) -> str:
    return {"+": "$text-success", "-": "$text-error", "@": MUTED}.get(line[:1], MUTED)
