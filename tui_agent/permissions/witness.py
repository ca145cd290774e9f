"""A gate around another one, which remembers the calls that nobody was there to approve."""

from __future__ import annotations

from collections.abc import Sequence

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.gate import Answer, Deny, Gate
from tui_agent.agent.tool import Pending


class Witness:
    """`unanswered` is filled in the order of the calls."""

    def __init__(self, gate: Gate, unanswered: list[Pending]) -> None:
        self._gate = gate
        self._unanswered = unanswered

    async def decide(self, batch: Sequence[Pending], signal: CancelSignal) -> Sequence[Answer]:
        answers = await self._gate.decide(batch, signal)
        self._unanswered += [
            pending
            for pending, answer in zip(batch, answers, strict=True)
            if isinstance(answer, Deny) and answer.unanswered
        ]
        return answers
