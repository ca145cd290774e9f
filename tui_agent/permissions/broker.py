"""The one queue to the person: one set of questions at a time, first in, first out.

The host gives `ask`, which shows a set and returns one answer each. What comes back is checked here: an
answer stands only for the proposal that was asked about, or for one that its tool made from it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.gate import Allow, Answer, Deny
from tui_agent.agent.tool import Pending, Proposal


@dataclass(frozen=True)
class Question:
    """A call that asks. `offer` is the rule that "allow from now on" would save, None if there is none.

    `commands` are the simple commands of a command line, one by one; `touches` what it would delete, move,
    overwrite or match, as far as that is known.
    """

    pending: Pending
    reasons: tuple[str, ...] = ()
    offer: str | None = None
    commands: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()


Ask = Callable[[Sequence[Question], CancelSignal], Awaitable[Sequence[Answer]]]
Recheck = Callable[[Question], Answer | None]
OnRequest = Callable[[str, str, str], Awaitable[None] | None]


class Broker:
    """Without `ask` nobody is there, and each question is answered "unanswered", with why it asked."""

    def __init__(self, ask: Ask | None = None, *, on_request: OnRequest | None = None) -> None:
        self._ask = ask
        self._on_request = on_request
        self._turn = asyncio.Lock()

    @property
    def attended(self) -> bool:
        return self._ask is not None

    async def ask(
        self, questions: Sequence[Question], signal: CancelSignal, *, recheck: Recheck
    ) -> list[Answer]:
        """One answer each, in order; raises `Cancelled` when the signal is set first.

        `recheck` runs when this set's turn has come: what an earlier answer settled isn't asked again.
        """
        if self._ask is None:
            return [Deny("; ".join(q.reasons), "mode", unanswered=True) for q in questions]
        return await signal.race(self._one_set(self._ask, questions, signal, recheck))

    async def _one_set(
        self, ask: Ask, questions: Sequence[Question], signal: CancelSignal, recheck: Recheck
    ) -> list[Answer]:
        async with self._turn:
            settled = [recheck(question) for question in questions]
            open_ones = [q for q, answer in zip(questions, settled, strict=True) if answer is None]
            if not open_ones:
                return [answer for answer in settled if answer is not None]
            for question in open_ones:
                await self._announce(question)
            answers = iter(_checked(open_ones, await ask(open_ones, signal)))
            return [next(answers) if answer is None else answer for answer in settled]

    async def _announce(self, question: Question) -> None:
        if self._on_request is not None:
            pending = question.pending
            told = self._on_request(pending.call.id, pending.proposal.title, "; ".join(question.reasons))
            if inspect.isawaitable(told):
                await told


def _checked(questions: Sequence[Question], answers: Sequence[Answer]) -> list[Answer]:
    if len(answers) != len(questions):
        return [
            Deny("the answers did not fit the questions; nothing was approved", "mode") for _ in questions
        ]
    return [_fitting(q.pending.proposal, answer) for q, answer in zip(questions, answers, strict=True)]


def _fitting(asked: Proposal, answer: Answer) -> Answer:
    if isinstance(answer, Deny):
        return answer
    if not isinstance(answer, Allow):
        return Deny("the answer could not be read; nothing was approved", "mode")
    given = answer.proposal
    if given is asked or given.hash == asked.hash:
        return answer
    # Only a command may become another target, and then the policy decides about it again.
    amended = asked.amend is not None and given.kind == asked.kind
    if amended and (given.targets == asked.targets or asked.kind == "execute"):
        return answer
    return Deny("the answer was about something else; nothing was approved", "mode")
