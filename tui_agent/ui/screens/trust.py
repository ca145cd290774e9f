"""Whether the instructions that a folder brings along may join the model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from tui_agent.text import plural
from tui_agent.ui import safe
from tui_agent.ui.screens.unasked import UnaskedDialog

if TYPE_CHECKING:
    from tui_agent.permissions.trust import ProjectFile


WHAT_IT_MEANS = (
    "This folder has settings and instructions of its own. After a yes they count, now and in later "
    "sessions: instructions reach the model, rules may only become stricter. Nothing of this folder has "
    "been run or followed yet.\n\n"
)


class TrustScreen(UnaskedDialog[bool]):
    """The files are shown whole. Escape is no: the folder is asked about again next time."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n,escape,ctrl+c", "answer(False)", show=False),
    ]

    ANSWERS = frozenset({"y", "n"})

    def __init__(self, folder: Path, files: Sequence[ProjectFile], give_back: Callable[[str], None]) -> None:
        parts: list[Content] = [
            Content(WHAT_IT_MEANS),
            safe.strict(str(folder), "bold"),
        ]
        for file in files:
            size = file.problem or plural(file.text.count("\n") + 1, "line")
            parts += [
                Content("\n\n"),
                safe.title(file.name, style="bold $text-accent"),
                safe.title(f"  {size}", style="$text-muted"),
                Content("\n"),
                safe.content(file.text.rstrip("\n")),
            ]
        super().__init__(
            "Trust this folder?",
            Content("").join(parts),
            "y  trust it    n  go on without    arrows, PageDown  read on",
            give_back,
        )

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
