"""What `edit_file` and `write_file` share: the bytes a change starts from, and the proposal it becomes.

A change starts from the file as it is, or as an earlier call of the same reply proposes to leave it. What
is proposed is the whole file before and after; running it writes exactly that `after`, if the file still
has exactly that `before`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import ToolError
from tui_agent.agent.tool import (
    AgentTool,
    Content,
    Kind,
    Proposal,
    ToolOutput,
    approved_by,
    earlier_proposals,
)
from tui_agent.text import plural
from tui_agent.tools.changes import file_change
from tui_agent.tools.clean import to_model
from tui_agent.tools.details import NOT_READ, FileChange, digest
from tui_agent.tools.file_io import read_whole, to_the_end
from tui_agent.tools.trouble import Missing, shown
from tui_agent.tools.truncate import clip
from tui_agent.tools.workspace import Workspace

_SHOWN_DIFF = 20_000


@dataclass(frozen=True)
class Base:
    """What a change starts from: `data` is None for a file that isn't there. `seen`: the model knows it."""

    path: str
    data: bytes | None
    seen: bool
    facts: tuple[str, ...] = ()


class FileTool(AgentTool):
    """A tool that works through the jail."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace


class ChangeTool(FileTool):
    """One that proposes a change: doing it is running the proposal."""

    kind: Kind = "write"

    async def execute(self, parameters: Any, signal: CancelSignal) -> Content:
        proposal = self.prepare(parameters, signal)
        return await (await proposal if isinstance(proposal, Awaitable) else proposal).run(signal)


async def base_of(workspace: Workspace, path: str, signal: CancelSignal, *, may_be_new: bool) -> Base:
    real, in_place = await in_thread(workspace.target, path)
    facts = (in_place,) if in_place else ()
    proposed = [
        details
        for proposal in earlier_proposals()
        if isinstance(details := proposal.details, FileChange) and details.path == real
    ]
    if proposed:
        known = proposed[0].before is None or workspace.seen.get(real) == proposed[0].before_hash
        return Base(real, proposed[-1].after, known, facts)
    try:
        opened = await in_thread(workspace.open_read, path)
    except Missing:
        if not may_be_new:
            raise
        return Base(real, None, True, facts)
    with opened:
        data = await read_whole(opened, signal)
    return Base(opened.path, data, workspace.seen.get(opened.path) == digest(data), facts)


async def propose(
    workspace: Workspace,
    title: str,
    base: Base,
    after: bytes,
    facts: tuple[str, ...] = (),
    *,
    told: Callable[[FileChange], str],
    whole: bool,
) -> Proposal:
    """The proposal to make `base` hold `after`. `told` says what was done; `whole`: all of it is new."""
    change = await in_thread(lambda: file_change(base.path, base.data, after, facts=(*base.facts, *facts)))
    return _Change(workspace, title, base, change, told, whole, (*base.facts, *facts)).proposal()


@dataclass(frozen=True)
class _Change:
    workspace: Workspace
    title: str
    base: Base
    change: FileChange
    told: Callable[[FileChange], str]
    whole: bool
    facts: tuple[str, ...]
    amended: bool = False

    def proposal(self) -> Proposal:
        return Proposal(self.title, "write", (self.change.path,), self.change, self.run, self.amend)

    def amend(self, details: BaseModel) -> Proposal:
        """The same call with the content that a person made of it."""
        if not isinstance(details, FileChange) or details.path != self.change.path or details.after is None:
            raise ValueError(f"only the new content of {self.change.path} can be amended")
        change = file_change(self.change.path, self.change.before, details.after, facts=self.facts)
        other = _Change(
            self.workspace, self.title, self.base, change, self.told, self.whole, self.facts, True
        )
        return other.proposal()

    async def run(self, signal: CancelSignal) -> ToolOutput:
        signal.raise_if_cancelled()
        change, after = self.change, self.change.after
        if after is None or after == change.before:
            raise ToolError(f"Nothing of the change to {shown(change.path)} is left, so nothing was written.")
        if NOT_READ in self.facts and approved_by() != "user":
            raise ToolError(
                f"{shown(change.path)} exists and was not read in its present state, and nobody has seen "
                "what would be replaced; nothing was written. Read it first, then send the call again."
            )
        await to_the_end(lambda: self.workspace.write(change.path, after, base=change.before_hash))
        if self.whole or self.base.seen:
            self.workspace.mark_seen(change.path, change.after_hash or "")
        return ToolOutput(self._report(), change)

    def _report(self) -> str:
        change = self.change
        notes = "".join(f" ({fact})" for fact in self.facts if fact != NOT_READ)
        if not self.amended:
            return self.told(change) + notes
        diff = clip(to_model(change.diff), _SHOWN_DIFF, hint="read the file")
        return (
            "The user changed your proposal before approving it. "
            f"{shown(change.path)} was written{notes} with this change, not the one you sent:\n{diff}"
        )


def counts(change: FileChange) -> str:
    return f"+{change.added:,} −{plural(change.removed, 'line')}"
