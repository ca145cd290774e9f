"""The agent's gate: the policy decides, the broker asks about the rest, the policy hears every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.gate import Allow, Answer, Deny
from tui_agent.agent.tool import Pending
from tui_agent.permissions.broker import Broker, Question
from tui_agent.permissions.offers import question_for
from tui_agent.permissions.policy import Policy, Ruling
from tui_agent.permissions.rules import COMMAND_TOOL, Rule

_TWICE = "the person declined this same call twice in this turn; do something else or ask in words"


class PolicyGate:
    """`Gate` for an agent. All calls of a batch that ask are asked as one set."""

    def __init__(self, policy: Policy, broker: Broker) -> None:
        self._policy = policy
        self._broker = broker

    async def decide(self, batch: Sequence[Pending], signal: CancelSignal) -> Sequence[Answer]:
        rulings = [await self._rule(pending) for pending in batch]
        answers = [self._settle(pending, ruling) for pending, ruling in zip(batch, rulings, strict=True)]
        rules = {pending.call.id: ruling.rule for pending, ruling in zip(batch, rulings, strict=True)}

        def recheck(question: Question) -> Answer | None:
            ruling = self._policy.decide(question.pending)
            rules[question.pending.call.id] = ruling.rule
            return self._settle(question.pending, ruling)

        asking = [
            await self._question(pending, ruling)
            for pending, ruling, answer in zip(batch, rulings, answers, strict=True)
            if answer is None
        ]
        if asking:
            told = iter(await self._broker.ask(asking, signal, recheck=recheck))
            answers = [
                await self._heard(pending, next(told)) if answer is None else answer
                for pending, answer in zip(batch, answers, strict=True)
            ]
        final = [answer for answer in answers if answer is not None]
        return [self._recorded(*decided, rules) for decided in zip(batch, final, strict=True)]

    def _recorded(self, pending: Pending, answer: Answer, rules: Mapping[str, Rule | None]) -> Answer:
        rule = rules[pending.call.id] if answer.by != "user" else None
        return replace(answer, source=self._policy.record(pending, answer, rule).source)

    async def _rule(self, pending: Pending) -> Ruling:
        if pending.tool.name == COMMAND_TOOL:  # may load the parser, or meet a long command
            return await asyncio.to_thread(self._policy.decide, pending)
        return self._policy.decide(pending)

    async def _question(self, pending: Pending, ruling: Ruling) -> Question:
        make = partial(question_for, pending, ruling.reasons, self._policy.folder, self._policy.rules)
        if pending.tool.name == COMMAND_TOOL:  # looks at the files that it names
            return await asyncio.to_thread(make)
        return make()

    def _settle(self, pending: Pending, ruling: Ruling) -> Answer | None:
        """The answer, or None if a person must give it."""
        if ruling.verdict == "allow":
            return Allow(pending.proposal, ruling.by)
        if ruling.verdict == "deny":
            return Deny("; ".join(ruling.reasons), ruling.by)
        if self._policy.declined_twice(pending):
            return Deny(_TWICE, "mode")
        if ruling.unasked and not self._broker.attended:
            return Deny(ruling.unasked, "mode")
        return None

    async def _heard(self, pending: Pending, answer: Answer) -> Answer:
        """A person may edit a command into one that a deny rule refuses: the rule wins."""
        if (
            isinstance(answer, Deny)
            or answer.by != "user"
            or answer.proposal.targets == pending.proposal.targets
        ):
            return answer
        edited = replace(pending, proposal=answer.proposal)
        ruling = await self._rule(edited)
        if ruling.verdict == "deny":
            return Deny("as edited: " + "; ".join(ruling.reasons), ruling.by)
        return answer
