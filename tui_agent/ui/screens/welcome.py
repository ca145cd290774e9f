"""What the program says when there is no key: what is missing, and how to go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.content import Content

from tui_agent.ui.screens.unasked import UnaskedDialog

TEXT = """\
Claude answers through the Anthropic API, and no key for it was found.

[b]With a key[/b]
Leave with q, set the key, and start again:

    [$text-accent]export ANTHROPIC_API_KEY=sk-ant-…[/]
    [$text-accent]tui-agent[/]

Keys are made at console.anthropic.com. For another server that speaks the \
Messages API set ANTHROPIC_BASE_URL; it may want no key.

[b]Without one[/b]
Press d: the demo runs the whole program offline, with a scripted model, on \
a copy of a small sample project. Nothing of yours is touched.
"""

Choice = Literal["demo", "quit"]


class WelcomeScreen(UnaskedDialog[Choice]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "choose('demo')", show=False),
        Binding("q,escape,ctrl+c,ctrl+d,ctrl+q", "choose('quit')", show=False),
    ]

    ANSWERS = frozenset({"d", "q"})

    def __init__(self, give_back: Callable[[str], None]) -> None:
        text = Content.from_markup(TEXT)
        super().__init__("No key for the model", text, "d  start the demo    q  quit", give_back)

    def action_choose(self, choice: Choice) -> None:
        self.dismiss(choice)
