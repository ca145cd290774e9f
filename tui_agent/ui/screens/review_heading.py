"""What stands above and below a diff under review: the file and its facts, the set, the keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui_agent.ui import safe
from tui_agent.ui.screens.verdict import counts

if TYPE_CHECKING:
    from tui_agent.ui.screens.sheet import Sheet
    from tui_agent.ui.widgets.diff_view import DiffView

_BEFORE = "y approve · n deny · r reason"
_ALWAYS = " · a always"
_AFTER = (
    " · e edit · c comment · Space hunk · Esc stop the run"
    " · ] [ hunk · l line · * 0 all · / find · + context · v sides · w blanks · z wrap · F2 conversation"
)
_OF_A_SET = " · Y approve all · } { file"


def keys_shown(sheet: Sheet, *, in_a_set: bool) -> str:
    """The keys, the most important first; no `always` where there is no rule for it."""
    always = _ALWAYS if sheet.question.offer is not None else ""
    return _BEFORE + always + _AFTER + (_OF_A_SET if in_a_set else "")


def heading(sheet: Sheet, view: DiffView, place: str) -> Content:
    """The path and its facts; below, what is in and where we are."""
    path = safe.title(sheet.change.path, 100, "bold")
    facts = safe.title("  " + " · ".join(sheet.change.facts))
    state = safe.title(" · ".join(part for part in _state(sheet, view, place) if part))
    return Content("\n").join([path + facts, state])


def _state(sheet: Sheet, view: DiffView, place: str) -> Iterator[str]:
    if view.diff is None:
        yield "comparing …"
    elif view.diff.hunks:
        yield counts(view.diff, sheet.left_out)
    yield place
    if sheet.edited:
        yield "edited by you"
    if sheet.moved:
        yield "the file changed on disk: this is the new diff"
    if sheet.answer is not None:
        yield "answered"
    if view.blanks != "as they are":
        yield f"blanks {view.blanks}"
    if not view.view.wrap:
        yield "long lines are cut (z wraps)"


def file_list(sheets: Sequence[Sheet], current: int, width: int, most: int) -> Content:
    """So many of the files around the current one, with their standing."""
    first = max(0, min(current - most // 2, len(sheets) - most))
    lines = []
    for at, sheet in list(enumerate(sheets))[first : first + most]:
        mark = "▸" if at == current else " "
        change = sheet.change
        line = f"{mark} {sheet.standing:9} {change.path}  +{change.added} −{change.removed}"
        lines.append(safe.title(line, width, "bold" if at == current else ""))
    return Content("\n").join(lines)
