"""The one door through which foreign text reaches widgets.

Whatever a model, tool, file, path, session or error says becomes `Content` here: literal (no markup, no
action behind a bracket) and drawn by `visible`, so nothing in it can act on the terminal. Widgets are
never given a plain `str` of foreign origin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.content import Content

from tui_agent.text import one_line, visible

if TYPE_CHECKING:
    from textual.app import App
    from textual.widget import Widget

Severity = Literal["information", "warning", "error"]


def content(text: str, style: str = "") -> Content:
    """Text to read: answers, output, messages."""
    return Content.styled(visible(text), style) if style else Content(visible(text))


def strict(text: str, style: str = "") -> Content:
    """Text to agree to: commands, paths, rules. Every character that could mislead is drawn."""
    shown = visible(text, strict=True)
    return Content.styled(shown, style) if style else Content(shown)


def title(text: str, width: int | None = None, style: str = "") -> Content:
    """One strict line for headings, labels and list rows, cut to `width` cells."""
    line = one_line(text, width)
    return Content.styled(line, style) if style else Content(line)


def notify(
    target: App[object] | Widget,
    text: str,
    *,
    severity: Severity = "information",
    timeout: float | None = None,
) -> None:
    """A toast that says `text` literally."""
    target.notify(visible(text), severity=severity, timeout=timeout, markup=False)
