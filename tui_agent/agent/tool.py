"""A tool: a declaration that the model sees, and a local function that it never sees."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel

from tui_agent.agent.calling import call
from tui_agent.agent.messages import ImageContent, TextContent, ToolCall

if TYPE_CHECKING:
    from tui_agent.agent.cancel import CancelSignal

Kind = Literal["read", "write", "execute"]


@dataclass(frozen=True)
class ToolOutput:
    """What a tool returns when the eye gets more than the model: `content` for it, `details` for us.

    `is_error` marks an answer that failed and still has details to show (a command's exit code).
    """

    content: str | Sequence[TextContent | ImageContent]
    details: BaseModel | None = None
    is_error: bool = False


Content = str | Sequence[TextContent | ImageContent] | ToolOutput


class Tool:
    """What the model is told: `parameters` is a JSON schema, or a pydantic model that gives one."""

    name: str
    description: str
    parameters: dict[str, Any] | type[BaseModel]

    def __init__(
        self,
        name: str | None = None,
        description: str | None = None,
        parameters: dict[str, Any] | type[BaseModel] | None = None,
    ) -> None:
        # A subclass may state these as class attributes instead.
        if name is not None:
            self.name = name
        if description is not None:
            self.description = description
        if parameters is not None:
            self.parameters = parameters
        for field in ("name", "description", "parameters"):
            if not hasattr(self, field):
                raise TypeError(f"{type(self).__name__} needs `{field}`")

    @property
    def schema(self) -> dict[str, Any]:
        if isinstance(self.parameters, dict):
            return self.parameters
        schema = self.parameters.model_json_schema()
        for part in (schema, *schema.get("properties", {}).values()):
            part.pop("title", None)
        return schema

    def declaration(self) -> Tool:
        """The plain `Tool` that enters a model request."""
        return Tool(self.name, self.description, copy.deepcopy(self.schema))

    def __eq__(self, other: object) -> bool:
        if type(self) is not Tool or type(other) is not Tool:
            return self is other
        mine, theirs = (self.name, self.description), (other.name, other.description)
        return mine == theirs and self.parameters == other.parameters

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


Execute = Callable[[Any, "CancelSignal"], Content | Awaitable[Content]]


class AgentTool(Tool):
    """A tool that the host passes: by keyword arguments (`execute=fn`), or as a subclass with the method.

    `kind` decides what asks; the default is the safe one. `execute` may be sync (it then runs in a
    daemon thread, never on the loop) or async; it must watch the signal, since it is never interrupted.
    A tool whose effect should be seen first defines `prepare(parameters, signal) -> Proposal`.
    """

    kind: Kind = "execute"

    def __init__(
        self,
        name: str | None = None,
        description: str | None = None,
        parameters: dict[str, Any] | type[BaseModel] | None = None,
        *,
        execute: Execute | None = None,
        prepare: Callable[[Any, CancelSignal], Proposal | Awaitable[Proposal]] | None = None,
        kind: Kind | None = None,
    ) -> None:
        super().__init__(name, description, parameters)
        if execute is not None:
            self.execute = execute  # type: ignore[assignment, method-assign]
        elif type(self).execute is AgentTool.execute:
            raise TypeError(f"the tool {self.name!r} needs an `execute`")
        if prepare is not None:
            self.prepare = prepare  # type: ignore[assignment, method-assign]
        if kind is not None:
            self.kind = kind

    def execute(self, parameters: Any, signal: CancelSignal) -> Content | Awaitable[Content]:
        """Do it. `parameters` is what validation returned: a model instance, or a dict."""
        raise NotImplementedError

    def prepare(self, parameters: Any, signal: CancelSignal) -> Proposal | Awaitable[Proposal]:
        """What `execute` would do. By default it says no more than the arguments."""

        async def run(signal: CancelSignal) -> Content:
            content: Content = await call(self.execute, parameters, signal)
            return content

        return Proposal(self.name, self.kind, _targets(parameters), None, run)


def _targets(parameters: Any) -> tuple[str, ...]:
    values = parameters if isinstance(parameters, dict) else dict(parameters)
    return tuple(value for value in values.values() if isinstance(value, str))


D = TypeVar("D", bound=BaseModel)


@dataclass(frozen=True)
class Proposal:
    """What will happen, without doing it. The proposal that was approved is the object that runs.

    `targets` are resolved paths, or the command: what rules match. `details` is for the person's eyes
    and the session (a `FileChange`, a `Command`). `run` does exactly what is shown, or raises
    `StaleProposal` and does nothing. `amend` gives the same call with other details; it is made by the
    tool, so only the tool acts.
    """

    title: str
    kind: Kind
    targets: tuple[str, ...]
    details: BaseModel | None
    run: Callable[[CancelSignal], Awaitable[Content]]
    amend: Callable[[BaseModel], Proposal] | None = None

    @property
    def hash(self) -> str:
        """Identity of what is shown. Details may say what counts by a `fingerprint` of their own."""
        shown = getattr(self.details, "fingerprint", None)
        if shown is None and self.details is not None:
            shown = self.details.model_dump_json()
        text = json.dumps([self.title, self.kind, self.targets, shown])
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


@dataclass(frozen=True)
class Pending:
    """A call that waits for the gate, with what it proposes."""

    call: ToolCall
    tool: AgentTool
    proposal: Proposal


_earlier: ContextVar[tuple[Proposal, ...]] = ContextVar("earlier_proposals", default=())


def earlier_proposals() -> tuple[Proposal, ...]:
    """Inside `prepare`: what the earlier members of the same batch propose, in order.

    A file tool builds on them (the overlay of the workspace), so that two edits of one file in one reply
    are shown, and land, one on the other.
    """
    return _earlier.get()


_call: ContextVar[str] = ContextVar("current_call_id", default="")


def current_call_id() -> str:
    """Inside `prepare`, `execute` or a proposal's `run`: the id of the call that is being worked on."""
    return _call.get()


_approver: ContextVar[str | None] = ContextVar("approved_by", default=None)


def approved_by() -> str | None:
    """Inside a proposal's `run`: who allowed it (user, rule, mode), None where there is no gate."""
    return _approver.get()
