"""Who decides whether a prepared call runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.tool import Pending, Proposal

By = Literal["user", "rule", "mode"]


@dataclass(frozen=True)
class Allow:
    """Run `proposal`: the one that was asked about, or one its `amend` made. `comment` goes to the model.

    `source`: the rule or mode that decided.
    """

    proposal: Proposal
    by: By = "user"
    comment: str = ""
    source: str = field(default="", compare=False)


@dataclass(frozen=True)
class Deny:
    """Don't run it. `unanswered`: nobody was there to ask; `source`: the rule or mode that decided."""

    reason: str = ""
    by: By = "user"
    unanswered: bool = False
    source: str = field(default="", compare=False)


Answer = Allow | Deny


class Gate(Protocol):
    """One answer for each pending call, in order. A gate that raises denies all of them.

    Without a gate (`gate=None`) everything is allowed: that is the embedder's responsibility.
    """

    async def decide(self, batch: Sequence[Pending], signal: CancelSignal) -> Sequence[Answer]: ...
