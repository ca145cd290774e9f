"""A file under review: what was proposed, what the person made of it, and the answer that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tui_agent.ui.screens.verdict import comments_text, told
from tui_agent.ui.widgets.diff_layout import Anchor

if TYPE_CHECKING:
    from tui_agent.agent import Allow, Deny, Proposal
    from tui_agent.permissions.broker import Question
    from tui_agent.tools.details import FileChange
    from tui_agent.tools.hunks import Key

By = Literal["user", "rule"]


@dataclass
class Sheet:
    question: Question
    proposal: Proposal
    change: FileChange
    left_out: set[Key] = field(default_factory=set)
    comments: Mapping[Anchor, str] = field(default_factory=dict)
    edited: bool = False
    moved: bool = False
    """Whether the file changed on disk while it was reviewed."""
    seen: bool = False
    answer: Allow | Deny | None = None

    @classmethod
    def of(cls, question: Question) -> Sheet:
        from tui_agent.tools.details import FileChange

        proposal = question.pending.proposal
        assert isinstance(proposal.details, FileChange)
        return cls(question, proposal, proposal.details)

    @property
    def divisible(self) -> bool:
        """Whether the tool can make the same call of a part of it."""
        return self.proposal.amend is not None

    @property
    def standing(self) -> str:
        from tui_agent.agent import Deny

        if self.answer is None:
            return "seen" if self.seen else "open"
        return "denied" if isinstance(self.answer, Deny) else "approved"

    def edit(self, data: bytes) -> None:
        """`data` is the proposed content now."""
        from tui_agent.tools.changes import file_change

        change = self.change
        self._replace(file_change(change.path, change.before, data, facts=_given(change)))
        self.edited = True

    def rebase(self, proposal: Proposal) -> bool:
        """Take the tool's proposal of now, with the person's text if there is one, if it is another one."""
        from tui_agent.tools.changes import file_change
        from tui_agent.tools.details import FileChange

        change = proposal.details
        if not isinstance(change, FileChange) or proposal.hash == self.proposal.hash:
            return False
        self.proposal, self.moved = proposal, True
        if self.edited:
            change = file_change(change.path, change.before, self.change.after, facts=_given(change))
        self._replace(change)
        return True

    def _replace(self, change: FileChange) -> None:
        self.change = change
        self.left_out, self.comments = set(), {}
        self.seen, self.answer = False, None

    def allowed(self, by: By) -> Allow | Deny:
        """The answer that writes exactly what is shown. Compares files: for a thread."""
        from tui_agent.agent import Allow, Deny
        from tui_agent.tools.changes import file_change
        from tui_agent.tools.stored import diff_of

        diff, change, amend = diff_of(self.change), self.change, self.proposal.amend
        if self.left_out and self.left_out >= diff.keys:
            said = ("no hunk was taken", comments_text(diff, self.comments))
            return Deny("; ".join(part for part in said if part))
        said_so = told(diff, self.left_out, self.edited, self.comments)
        if not (self.left_out or self.edited) or amend is None:
            return Allow(self.proposal, by, said_so)
        if self.left_out:
            after = diff.apply(self.left_out)
            change = file_change(change.path, change.before, after, facts=_given(change))
        return Allow(amend(change), by, said_so)


def _given(change: FileChange) -> tuple[str, ...]:
    """Facts that the bytes do not tell: they stay when the bytes change."""
    from tui_agent.tools.changes import file_change

    derived = file_change(change.path, change.before, change.after).facts
    return tuple(fact for fact in change.facts if fact not in derived)
