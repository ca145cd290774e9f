"""The calls of one reply, one after the other, each with exactly one result.

For each call, in this order: the tool exists, the arguments are valid, the proposal can be prepared, the
gate allows it, the function does not raise. Each failure is an error result. Neighbouring calls of kind
`write` are prepared and shown together, and still run one by one. Once the signal is set nothing more is
dispatched; a running tool is never interrupted, it is awaited.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from tui_agent.agent.arguments import validate_tool_arguments
from tui_agent.agent.calling import call as call_foreign
from tui_agent.agent.calling import contained
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import Cancelled, StaleProposal, ToolError
from tui_agent.agent.events import AgentEvent, ApprovalDecided, Emit, ToolCallFinished, ToolCallStarted
from tui_agent.agent.gate import Allow, Answer, Deny, Gate
from tui_agent.agent.messages import ToolCall, ToolResultMessage
from tui_agent.agent.results import answer, declined, interrupted, result_of, said, with_comment
from tui_agent.agent.tool import AgentTool, Pending, Proposal, _approver, _call, _earlier

LISTED = 20
"""Names that the error about an unknown tool lists."""
LONGEST = 100
"""Characters of its name that it repeats."""
ASKED_AGAIN = 3
"""Times one call may be asked about again because its base changed."""
PREPARED_AGAIN = 100
"""Times it may be prepared again for that, where nobody is asked or the question stays the same."""

NOT_RUN = "not run: the turn was cancelled before this call"
OVERTAKEN = "not run: the user sent a new message"
KEPT_CHANGING = "not run: what it works on kept changing; look again first"
STOPPED = "not run: the user stopped this call"
SKIPPED = frozenset({NOT_RUN, OVERTAKEN, STOPPED})


async def execute_tool_calls(
    calls: Sequence[ToolCall],
    tools: Sequence[AgentTool],
    *,
    signal: CancelSignal,
    gate: Gate | None = None,
    emit: Emit | None = None,
) -> list[ToolResultMessage]:
    """One result for each call, in order. Never raises for a tool, a gate or a cancel."""
    return await Execution(tools, signal=signal, gate=gate, emit=emit or _nowhere).run(calls)


async def _nowhere(event: AgentEvent) -> None:
    """For hosts that don't listen."""


@dataclass
class Member:
    """One call on its way: `pending` once it is prepared, then `allowed`, or `refused` and not run."""

    call: ToolCall
    tool: AgentTool | None = None
    parameters: Any = None
    pending: Pending | None = None
    allowed: Allow | None = None
    asked_again: int = 0
    refused: ToolResultMessage | None = None


class Execution:
    """`signals` tells the host which calls are open, so that one can be stopped alone; `overtaken` says
    between calls whether the rest should be left; `review` sees each result before it is told."""

    def __init__(
        self,
        tools: Sequence[AgentTool],
        *,
        signal: CancelSignal,
        gate: Gate | None,
        emit: Emit,
        signals: dict[str, CancelSignal] | None = None,
        overtaken: Callable[[], bool] = lambda: False,
        review: Callable[[ToolCall, ToolResultMessage], ToolResultMessage] = lambda call, result: result,
    ) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.signal = signal
        self.gate = gate
        self.emit = emit
        self.signals = {} if signals is None else signals
        self.overtaken = overtaken
        self.review = review

    async def run(self, calls: Sequence[ToolCall]) -> list[ToolResultMessage]:
        results: list[ToolResultMessage] = []
        for batch in self._batches(calls):
            results += await self._run_batch(batch)
        return results

    def _batches(self, calls: Sequence[ToolCall]) -> Iterable[list[ToolCall]]:
        """Maximal runs of neighbouring calls of kind `write`; every other call alone."""

        def writes(call: ToolCall) -> bool:
            tool = self.tools.get(call.name)
            return tool is not None and tool.kind == "write"

        for together, run in groupby(calls, key=writes):
            members = list(run)
            yield from [members] if together else ([call] for call in members)

    async def _run_batch(self, calls: list[ToolCall]) -> list[ToolResultMessage]:
        members = [Member(call) for call in calls]
        for member in members:
            self.signals[member.call.id] = self.signal.child()
        try:
            earlier: tuple[Proposal, ...] = ()
            for member in members:
                await self._look_at(member, earlier)
                if member.pending:
                    earlier += (member.pending.proposal,)
            await self._ask([m for m in members if m.pending])
            return [await self._finish(member) for member in members]
        finally:
            for call in calls:
                self.signals.pop(call.id, None)

    async def _finish(self, member: Member) -> ToolResultMessage:
        began = time.monotonic()  # the person's thinking before it doesn't count
        if member.allowed is None or self.signal.cancelled:
            result = member.refused or answer(member.call, NOT_RUN, is_error=True)
        else:
            result = await self._run_one(member, member.allowed)
        skipped = result.text in SKIPPED
        if not (self.signal.cancelled or self.overtaken()):  # else its like will not be tried again anyway
            result = self.review(member.call, result)
        seconds = time.monotonic() - began
        await self.emit(ToolCallFinished(result=result, seconds=seconds, skipped=skipped))
        return result

    # before it runs

    async def _look_at(self, member: Member, earlier: tuple[Proposal, ...]) -> None:
        """Find the tool, check the arguments, prepare: `member` is pending or refused afterwards."""
        call = member.call
        member.tool = self.tools.get(call.name)
        try:
            if self.signal.cancelled:
                raise Cancelled
            if self.overtaken():
                raise ToolError(OVERTAKEN)
            if member.tool is None:
                raise ToolError(self._unknown(call.name))
            if call.fault is not None:
                raise ToolError(
                    f"invalid arguments for {call.name}; nothing ran: {call.fault}. "
                    "Send the call again with one JSON object as its arguments."
                )
            member.parameters = validate_tool_arguments(member.tool, call.arguments)
            proposal = await self._prepare(member, earlier)
            member.pending = Pending(call, member.tool, proposal)
        except Cancelled:
            member.refused = answer(call, NOT_RUN, is_error=True)
        except Exception as error:
            member.refused = answer(call, said(error), is_error=True)
        shown = member.pending.proposal if member.pending else None
        await self.emit(
            ToolCallStarted(
                call=call,
                kind=shown.kind if shown else None,
                title=shown.title if shown else call.name,
                details=shown.details if shown else None,
            )
        )

    async def _prepare(self, member: Member, earlier: tuple[Proposal, ...]) -> Proposal:
        """Preparing has no effect, so it may be left behind when the signal is set."""
        assert member.tool is not None
        tool, call_mark, earlier_mark = member.tool, _call.set(member.call.id), _earlier.set(earlier)
        try:
            signal = self.signals[member.call.id]
            if getattr(tool.prepare, "__func__", None) is AgentTool.prepare:
                return tool.prepare(member.parameters, signal)  # type: ignore[return-value]  # ours is sync
            proposal = await self.signal.race(call_foreign(tool.prepare, member.parameters, signal))
            if not isinstance(proposal, Proposal):
                raise ToolError(
                    f"{tool.name} prepared {type(proposal).__name__}, not a Proposal; nothing ran"
                )
            return proposal
        finally:
            _call.reset(call_mark)
            _earlier.reset(earlier_mark)

    def _unknown(self, name: str) -> str:
        names = sorted(self.tools)
        if not names:
            known = "No tools are available."
        else:
            more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
            known = f"Registered tools: {', '.join(names[:LISTED])}{more}."
        called = repr(name[:LONGEST])
        return f"unknown tool {called}: nothing was run. {known} Use the tools as they are declared now."

    # the gate

    async def _ask(self, members: list[Member]) -> None:
        """Ask about all of them at once. Each is allowed or refused afterwards."""
        if not members:
            return
        batch = [member.pending for member in members if member.pending]
        for member, reply in zip(members, await self._decide(batch), strict=True):
            member.allowed = None
            if isinstance(reply, Allow):
                member.allowed = reply
            elif reply is None:
                member.refused = answer(member.call, NOT_RUN, is_error=True)
            else:
                member.refused = answer(member.call, declined(reply), is_error=True)
            if self.gate is not None and reply is not None:
                await self.emit(_decided(member, reply))

    async def _decide(self, batch: list[Pending]) -> Sequence[Answer | None]:
        """The gate's answers; None for all if the run was cancelled meanwhile."""
        if self.gate is None:
            return [Allow(pending.proposal, by="rule") for pending in batch]
        try:
            answers = await self.signal.race(contained(self.gate.decide(batch, self.signal)))
            if len(answers) != len(batch) or not all(isinstance(a, Allow | Deny) for a in answers):
                raise ToolError(f"the gate gave {len(answers)} answers to {len(batch)} calls")
            return answers
        except Cancelled:
            return [None] * len(batch)
        except Exception as error:  # whatever went wrong, nothing was allowed
            return [Deny(f"the approval failed: {said(error)}", by="mode")] * len(batch)

    # running

    async def _run_one(self, member: Member, allow: Allow) -> ToolResultMessage:
        call, signal = member.call, self.signals[member.call.id]
        for _ in range(PREPARED_AGAIN):
            if signal.cancelled:
                reason = NOT_RUN if self.signal.cancelled else STOPPED
                return answer(call, reason, is_error=True)
            began, mark = time.monotonic(), _call.set(call.id)
            approver = _approver.set(allow.by if self.gate is not None else None)
            try:
                result = result_of(call, await contained(allow.proposal.run(signal)))
                return with_comment(result, allow.comment)
            except StaleProposal:
                again = await self._again(member, allow)
                if isinstance(again, ToolResultMessage):
                    return again
                allow = again
            except Cancelled as stop:
                return answer(call, interrupted(stop, self._stopper(signal, began)), is_error=True)
            except asyncio.CancelledError:  # of the host's task: it ends here, but not untold
                signal.cancel("the host stopped")
                result = answer(call, interrupted(Cancelled(), "interrupted"), is_error=True)
                await self.emit(ToolCallFinished(result=result, seconds=time.monotonic() - began))
                raise
            except Exception as error:
                return answer(call, said(error), is_error=True)
            finally:
                _call.reset(mark)
                _approver.reset(approver)
        return answer(call, KEPT_CHANGING, is_error=True)

    def _stopper(self, signal: CancelSignal, began: float) -> str:
        if self.signal.cancelled:
            return "interrupted by the user"
        if signal.cancelled:
            return f"stopped by the user after {time.monotonic() - began:.1f} s"
        return "interrupted by the tool itself"

    async def _again(self, member: Member, allow: Allow) -> Allow | ToolResultMessage:
        """The base changed after the answer. The same proposal runs; another one is asked about."""
        try:
            proposal = await self._prepare(member, ())
        except Cancelled:
            return answer(member.call, NOT_RUN, is_error=True)
        except Exception as error:
            return answer(member.call, f"no longer applicable, nothing ran: {said(error)}", is_error=True)
        if proposal.hash == allow.proposal.hash:
            return replace(allow, proposal=proposal)
        if self.gate is not None and member.asked_again == ASKED_AGAIN:
            return answer(member.call, KEPT_CHANGING, is_error=True)
        member.asked_again += 1
        assert member.tool is not None
        member.pending = Pending(member.call, member.tool, proposal)
        await self._ask([member])
        return member.allowed or member.refused or answer(member.call, NOT_RUN, is_error=True)


def _decided(member: Member, reply: Answer) -> ApprovalDecided:
    asked = member.pending.proposal.title if member.pending else ""
    return ApprovalDecided(
        call_id=member.call.id,
        decision="allow" if isinstance(reply, Allow) else "deny",
        by=reply.by,
        reason=reply.comment if isinstance(reply, Allow) else reply.reason,
        source=reply.source,
        title=reply.proposal.title if isinstance(reply, Allow) and reply.proposal.title != asked else "",
    )
