"""What fills the model's window, as a picture: a bar for the whole, a bar for each part."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from tui_agent.ui import safe
from tui_agent.ui.screens.dialog import Dialog
from tui_agent.ui.status import share

if TYPE_CHECKING:
    from tui_agent.session.contents import Contents

WIDTH = 20
_NAMES = 18


class ContextScreen(Dialog[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c,q,enter", "close", show=False)]

    def __init__(self, model: str, contents: Contents) -> None:
        super().__init__("Context", picture(model, contents), "Escape  close    arrows, PageDown  read on")

    def action_close(self) -> None:
        self.dismiss(None)


def picture(model: str, contents: Contents) -> Content:
    filled, window = contents.filled, contents.window
    of = f"{share(filled, window)}, {filled:,} of {window:,} tokens" if window else f"{filled:,} tokens"
    head = Content.assemble(safe.title(model, style="bold"), f"  {of}")
    lines = [head]
    if window:
        lines.append(_bar(filled, window, "$text-primary"))
    largest = max((tokens for _, tokens in contents.parts), default=0)
    lines.append(Content(""))
    for name, tokens in contents.parts:
        label = f"{name:<{_NAMES}}{tokens:>9,}  "
        lines.append(Content.assemble(label, _bar(tokens, largest, "$text-accent", rest=False)))
    if window:
        lines.append(Content.styled(f"{'free':<{_NAMES}}{max(0, window - filled):>9,}", "$text-muted"))
    lines.append(Content(""))
    lines.append(Content("Parts are estimates; the whole is what the provider counted, as far as it has."))
    lines.append(Content("/compact makes it short, /rewind goes back, /clear begins anew."))
    return Content("\n").join(lines)


def _bar(part: int, whole: int, style: str, *, rest: bool = True) -> Content:
    cells = round(WIDTH * min(1.0, part / whole)) if whole else 0
    cells = max(cells, 1 if part else 0)
    empty = "·" * (WIDTH - cells) if rest else ""
    return Content.assemble(("█" * cells, style), (empty, "$text-muted"))
