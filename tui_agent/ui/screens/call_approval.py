"""The question for a command, and for any call that isn't a file change: all of it, literally.

What is on screen is what runs. An edited command is the same call with other details, made by the tool.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from tui_agent.text import invisibles, plural, visible
from tui_agent.ui import safe
from tui_agent.ui.screens.answering import AnswerScreen
from tui_agent.ui.screens.offered_rule import OnGrant
from tui_agent.ui.widgets.literal_view import LiteralView, literal
from tui_agent.ui.widgets.strips import Run

if TYPE_CHECKING:
    from tui_agent.agent import Proposal
    from tui_agent.permissions.broker import Question
    from tui_agent.tools.details import Command

_COMMAND = "bold $foreground"
_ASIDE = "$text-muted"
_WARNING = "bold $text-warning"


class CallApproval(AnswerScreen):
    def __init__(self, question: Question, on_grant: OnGrant, give_back: Callable[[str], None]) -> None:
        super().__init__(on_grant, give_back)
        self._question = question
        self._proposal: Proposal = question.pending.proposal
        self._comment = ""

    # What is shown -----------------------------------------------------------------------------------

    @property
    def question(self) -> Question:
        return self._question

    @property
    def command(self) -> Command | None:
        from tui_agent.tools.details import Command

        details = self._proposal.details
        return details if isinstance(details, Command) else None

    @property
    def edited(self) -> bool:
        return self._proposal is not self._question.pending.proposal

    def parts(self) -> Iterable[Widget]:
        yield LiteralView(id="body")

    def on_mount(self) -> None:
        self.screen_layout_refresh_signal.subscribe(self, lambda _: self._fit())
        self._show()
        super().on_mount()

    def _show(self) -> None:
        self.query_one(LiteralView).show(list(self._paragraphs()))

    def on_literal_view_laid(self, event: LiteralView.Laid) -> None:
        event.stop()
        self._fit()

    def _fit(self) -> None:
        """The body is as high as its text, as far as what stands around it allows."""
        view, frame = self.query_one(LiteralView), self.query_one("#question")
        around = sum(part.outer_size.height for part in frame.children if part is not view and part.display)
        room = self.size.height - around - frame.gutter.height - frame.styles.margin.height
        view.styles.height = max(3, min(view.row_count, room))

    def describe(self) -> tuple[Content, Content, str]:
        pending = self._question.pending
        words = ["Run this command?" if self.command else f"Allow {pending.tool.name}?"]
        if self.edited:
            words.append("edited by you")
        if self._comment:
            words.append("with a comment")
        keys = ["y approve", "n deny", "r reason"]
        if self._question.offer is not None:
            keys.append("a always")
        if self.command and self._proposal.amend:
            keys.append("e edit")
        keys += ["c comment", "Esc stop the run", "F2 conversation"]
        why = "Why it asks: " + "; ".join(self._question.reasons) if self._question.reasons else ""
        return safe.title(" · ".join(words), style="bold"), safe.strict(why), " · ".join(keys)

    def _paragraphs(self) -> Iterator[list[Run]]:
        command = self.command
        if command is None:
            yield from self._arguments()
        else:
            text = command.command
            for line in literal(text):
                yield [(line, _COMMAND)]
            if hidden := invisibles(text):
                yield [(f"contains {plural(hidden, 'invisible character')}, drawn above", _WARNING)]
            if len(text) > 400:
                lines = plural(text.count("\n") + 1, "line")
                yield [(f"{plural(len(text), 'character')}, {lines}", _ASIDE)]
            yield [("", "")]
            yield [("in       ", _ASIDE), (visible(command.folder, strict=True), "")]
            yield [("timeout  ", _ASIDE), (f"{command.timeout:g} s", "")]
            yield [("sandbox  ", _ASIDE), (command.sandbox or "none: it can do whatever you can", "")]
            if command.background:
                yield [("runs in the background", _ASIDE)]
        for heading, parts in (("runs", self._question.commands), ("touches", self._question.touches)):
            if parts:
                yield [(heading, _ASIDE)]
                for part in parts:
                    yield from ([(f"  {line}", "")] for line in literal(part))

    def _arguments(self) -> Iterator[list[Run]]:
        pending = self._question.pending
        title = literal(self._proposal.title)
        yield from ([(line, _COMMAND)] for line in title)
        for target in map(literal, self._proposal.targets):
            if not (len(title) == len(target) == 1 and title[0].endswith(f" {target[0]}")):
                yield from ([(line, "")] for line in target)
        yield [("", "")]
        for name, value in pending.call.arguments.items():
            if isinstance(value, str):
                first, *rest = literal(value)
            else:  # the breaks in it are ours: JSON has none
                rows = json.dumps(value, ensure_ascii=False, indent=1).split("\n")
                first, *rest = [line for row in rows for line in literal(row)]
            yield [(f"{visible(name, strict=True)}  ", _ASIDE), (first, "")]
            yield from ([(line, "")] for line in rest)

    # Verbs -------------------------------------------------------------------------------------------

    def approve(self) -> None:
        from tui_agent.agent import Allow

        said = []
        if self.edited and self.command:
            said.append(f"the user edited the command; what ran is: {self.command.command}")
        if self._comment:
            said.append(f"the user's comment: {self._comment}")
        self.dismiss([Allow(self._proposal, comment="; ".join(said))])

    def deny(self, reason: str) -> str | None:
        from tui_agent.agent import Deny

        said = [reason.strip(), f"comment: {self._comment}" if self._comment else ""]
        self.dismiss([Deny("; ".join(part for part in said if part))])
        return None

    def do_comment(self) -> None:
        self.fields.ask(
            "Comment, goes with the answer:", "Enter keeps it · Esc leaves", self._commented, kept="comment"
        )

    def _commented(self, text: str) -> str | None:
        self._comment = text.strip()
        self.refresh_words()
        return None

    def do_edit(self) -> None:
        command = self.command
        if command is None or self._proposal.amend is None:
            self.tell("Only a command can be edited here.")
        elif visible(command.command) != command.command:
            self.tell("It holds hidden characters and can't be edited safely: deny it with a reason.")
        else:
            self.fields.edit("Edit the command:", command.command, self._edit, kept="edit")

    def _edit(self, text: str) -> str | None:
        command, amend = self.command, self._question.pending.proposal.amend
        if not text.strip():
            return "An empty command can't run: deny it instead."
        if command is None or amend is None or text == command.command:
            return None
        self._proposal = amend(command.model_copy(update={"command": text}))
        # What was known of the parts and targets was known of the other text.
        self._question = replace(self._question, offer=None, commands=(), touches=())
        self._show()
        self.renewed()
        return None
