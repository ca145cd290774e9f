"""The key never reaches the model: whatever a tool says is told without its value.

A command can print the key, and a file can hold it. What the model gets would be sent, stored and shown
again and again, so it is replaced where results leave a tool; errors count as results.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tui_agent.agent import (
    AgentTool,
    Cancelled,
    CancelSignal,
    ImageContent,
    Proposal,
    TextContent,
    ToolError,
    ToolOutput,
)
from tui_agent.agent.calling import call
from tui_agent.agent.errors import StaleProposal
from tui_agent.agent.tool import Content

Redact = Callable[[str], str]
Block = TextContent | ImageContent


class DiscreetTool(AgentTool):
    """A tool as it is, with its words filtered by `redact`."""

    def __init__(self, tool: AgentTool, redact: Redact) -> None:
        super().__init__(tool.name, tool.description, tool.parameters, kind=tool.kind)
        self._tool = tool
        self._redact = redact

    async def execute(self, parameters: Any, signal: CancelSignal) -> Content:
        return await (await self.prepare(parameters, signal)).run(signal)

    async def prepare(self, parameters: Any, signal: CancelSignal) -> Proposal:
        proposal: Proposal = await self._filtered(call(self._tool.prepare, parameters, signal))
        return self._discreet(proposal)

    def _discreet(self, proposal: Proposal) -> Proposal:
        amend = proposal.amend
        return replace(
            proposal,
            run=partial(self._run, proposal.run),
            amend=amend and (lambda details: self._discreet(amend(details))),
        )

    async def _run(self, run: Callable[[CancelSignal], Awaitable[Content]], signal: CancelSignal) -> Content:
        content: Content = await self._filtered(run(signal))
        if isinstance(content, ToolOutput):
            return replace(content, content=self._without(content.content))
        filtered: Content = self._without(content)
        return filtered

    def _without(self, content: Any) -> Any:
        """What is no content at all stays as it is: the loop has a word on it."""
        if isinstance(content, str):
            return self._redact(content)
        return without(content, self._redact) if isinstance(content, list | tuple) else content

    async def _filtered(self, work: Awaitable[Any]) -> Any:
        try:
            return await work
        except StaleProposal as error:
            raise StaleProposal(self._redact(str(error))) from None
        except ToolError as error:
            raise ToolError(self._redact(str(error))) from None
        except Cancelled as stop:
            raise Cancelled(stop.reason, self._redact(stop.output)) from None


def without(blocks: Sequence[Block], redact: Redact) -> list[Block]:
    """The same blocks, their texts filtered."""
    return [
        TextContent(text=redact(block.text)) if isinstance(block, TextContent) else block for block in blocks
    ]
