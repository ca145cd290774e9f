"""Cutting text to a cap: whole characters, exact counts, and a notice that is added after the cut."""

from __future__ import annotations

from tui_agent.text import plural

LIMIT = 50_000
"""Characters of one tool result, unless a tool says otherwise."""


def clip(text: str, limit: int = LIMIT, *, head: float = 0.5, hint: str = "") -> str:
    """`text`, or its head and tail around a notice of what is left out. `head` is the share kept in front.

    The kept text is exactly `limit` characters long; `hint` tells the model how to get the rest.
    """
    if len(text) <= limit:
        return text
    front = round(limit * head)
    back = limit - front
    left_out = text[front : len(text) - back]
    lines = left_out.count("\n")
    notice = f"[{plural(len(left_out), 'character')} ({plural(lines, 'line')}) left out here"
    notice += f"; {hint}]" if hint else "]"
    tail = text[len(text) - back :]
    return f"{text[:front]}\n{notice}\n{tail}" if back else f"{text[:front]}\n{notice}"


def clip_line(line: str, limit: int) -> str:
    """One line cut to `limit` characters, with a mark at the cut."""
    return line if len(line) <= limit else f"{line[:limit]}…[+{len(line) - limit:,} characters]"
