"""How a call is drawn: its line, the live tail under it, and what opens below. Pure rows, no widget."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tui_agent.text import one_line, plural, shorten, size_text, visible, width_of
from tui_agent.ui.calls import GLYPHS, Call, State
from tui_agent.ui.widgets.wrap import cuts, untabbed

if TYPE_CHECKING:
    from tui_agent.tools.details import FileChange
    from tui_agent.ui.widgets.strips import Row

CAP = 50_000
"""Characters of one value that are shown; the session has the rest."""

ABOUT = 16
"""Columns of the main argument that facts leave it."""

PEEK = 10
"""Rows that a failed call opens to by itself."""

STYLES: dict[State, str] = {
    "writing": "$text-secondary",
    "asks": "bold $text-warning",
    "running": "$text-primary",
    "job": "$text-primary",
    "done": "$text-success",
    "failed": "bold $text-error",
    "declined": "$text-warning",
    "stopped": "$text-warning",
}
QUIET = "$text-muted"
_STATE_WIDTH = max(map(len, STYLES))


def line(call: Call, width: int) -> Row:
    """One row: state, name, main argument; then as many facts as leave the argument room to be known by."""
    style = STYLES[call.state]
    left = f"{GLYPHS[call.state]} {call.state:<{_STATE_WIDTH}} "
    name = one_line(call.name, 24)
    about = one_line(call.about())
    room = width - len(left) - width_of(name) - 1
    right = _facts(call, room - min(width_of(about), ABOUT))
    room -= width_of(right) + (1 if right else 0)
    about = shorten(about, max(0, room), keep="tail" if about[:1] == "/" else "head")
    gap = " " * max(0, room + (1 if right else 0) - width_of(about))
    return ((left, style), (name, "bold"), (f" {about}", ""), (gap, ""), (right, QUIET))


def _facts(call: Call, room: int) -> str:
    """Duration, who decided, size: what is left out for want of room is the last of these."""
    facts = {
        "seconds": "" if call.seconds is None else duration(call.seconds),
        "by": f"by {call.by}" if call.by else "",
        "size": size_text(call.size) if call.size else "",
        "job": call.job,
    }
    while facts:
        text = "  ".join(fact for fact in reversed(facts.values()) if fact)
        if width_of(text) + 1 <= room or len(facts) == 1:
            return text
        facts.popitem()
    return ""


def duration(seconds: float) -> str:
    """`4 ms`, `1.2 s`, `48 s`, `3 min 5 s`."""
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def tail(call: Call, width: int) -> list[Row]:
    """The last lines that a running call printed."""
    return [
        (("  │ ", QUIET), (shorten(visible(untabbed(text)), width - 4), QUIET)) for text in call.tail_lines
    ]


def question(call: Call, width: int) -> Row:
    """What the next `x` would stop, and how not to."""
    what = f"end {call.job}" if call.state == "job" else f"stop {call.name}"
    keys = "  x, Enter: yes · other keys: no"
    about = one_line(call.subject, max(0, width - width_of(what) - len(keys) - 6))
    return (("  ", ""), (f"{what}{f' {about}' if about else ''}?", "bold $text-warning"), (keys, QUIET))


def body(call: Call, width: int) -> list[Row]:
    """Arguments, decision and result of an open call."""
    rows: list[Row] = []
    for name, value in said(call):
        rows += _value(name, value, width)
    if call.by:
        verb = "declined" if call.denied else "allowed"
        reason = f": {call.reason}" if call.reason else ""
        rows += _block(f"{verb} by {call.by}{reason}", width, QUIET)
    if call.result is not None:
        rows += _result(call, width)
    return [(("  ", ""), *row) for row in rows]


def said(call: Call) -> list[tuple[str, str]]:
    """The arguments, as text."""
    from tui_agent.masking import masked_arguments

    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in masked_arguments(call.arguments).items()
    ]


def copied(call: Call) -> str:
    """The call as text: its name, its arguments, and what came of it."""
    arguments = [f"{name}: {value}" for name, value in said(call)]
    result = diff_of(call) or result_of(call)
    return "\n".join([call.name, *arguments, *(["", result] if result else [])])


def peek(rows: list[Row]) -> list[Row]:
    """What is shown of a body that nobody asked for: how it begins, and above all how it ends."""
    left_out = len(rows) - PEEK
    if left_out <= 1:
        return rows
    more: Row = (("  ", ""), (f"… {plural(left_out + 1, 'row')}: Enter shows all", QUIET))
    return [rows[0], more, *rows[left_out + 2 :]]


def _result(call: Call, width: int) -> list[Row]:
    assert call.result is not None
    seconds = "" if call.seconds is None else duration(call.seconds)
    facts = " · ".join(part for part in (size_text(call.size), seconds) if part)
    heading = "error" if call.result.is_error else "result"
    rows: list[Row] = [((f"{heading} ", "bold"), (facts, QUIET))]
    diff = "" if call.result.is_error else diff_of(call)
    if diff:
        return rows + [row for text in diff.split("\n") for row in _block(text, width, _diff_style(text))]
    return rows + _block(result_of(call), width, "$text-error" if call.result.is_error else "")


def change_of(call: Call) -> FileChange | None:
    """What the call did to a file, or would have done."""
    from tui_agent.tools.details import FileChange, revive

    change = revive(call.details)
    return change if isinstance(change, FileChange) else None


def diff_of(call: Call) -> str:
    """The diff of a change, as it may be shown in a pane."""
    from tui_agent.masking import masked_change

    change = change_of(call)
    return "" if change is None or call.result is None else masked_change(change).diff


def result_of(call: Call) -> str:
    """What the model got, as it may be shown in a pane."""
    from tui_agent.masking import about_secrets, masked_text

    text = "" if call.result is None else call.result.text
    return masked_text(text) if about_secrets(call.arguments, call.details) else text


def _diff_style(text: str) -> str:
    return {"+": "$text-success", "-": "$text-error", "@": QUIET}.get(text[:1], "")


def _value(name: str, value: str, width: int) -> list[Row]:
    label = one_line(name, 20)
    if "\n" not in value and width_of(value) + len(label) + 4 <= width:
        return [((f"{label} ", QUIET), (visible(value), ""))]
    return [((label, QUIET),), *_block(value, width, "")]


def _block(text: str, width: int, style: str) -> list[Row]:
    lines = untabbed(visible(text[:CAP])).split("\n")
    room = max(8, width - 2)
    rows: list[Row] = [((row[start:end], style),) for row in lines for start, end, _ in cuts(row, room)]
    if len(text) > CAP:
        rows.append(((f"… {plural(len(text) - CAP, 'character')} more, not shown here", QUIET),))
    return rows
